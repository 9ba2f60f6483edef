package io.dyber.zernel.record.attach;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.elf.x86.Site;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.Symbols;
import io.dyber.zernel.record.probe.Tracepoints;

/// One function in one library file, as the footer's `zernel.probes` lists it.
///
/// @param id its function number in the BPF maps; 0 when it was never to be attached
/// @param site file offset that is probed, possibly some bytes into the function
/// @param left whether it is probed where it is left instead of on its return
/// @param early whether that is done before its `ret`s, without a debug trap
/// @param cost `emulated` or `single-stepped`
/// @param state `attached`, `off`, `waiting`, `missing` or `failed`
/// @param why it is not attached, or empty
record ProbedFunction(
        int id,
        FunctionProbe hook,
        String name,
        String library,
        String buildId,
        String symbol,
        long site,
        boolean left,
        boolean early,
        String cost,
        String state,
        String why) {

    /// A function that is about to be attached.
    static ProbedFunction attached(
            int id, FunctionProbe hook, String library, String buildId, Symbols.Found found, boolean left) {
        return new ProbedFunction(
                id,
                hook,
                hook.probe().name().isEmpty() ? found.symbol() : hook.probe().name(),
                library,
                buildId,
                found.symbol(),
                found.probeOffset(),
                left,
                !found.trapped(),
                found.site().cost().label(),
                "attached",
                "");
    }

    /// A tracepoint that is about to be attached; there, a nop waits for probes.
    static ProbedFunction attached(int id, FunctionProbe hook, String library, String buildId, Tracepoints.Found found) {
        return new ProbedFunction(
                id,
                hook,
                hook.probe().name().isEmpty() ? found.symbol() : hook.probe().name(),
                library,
                buildId,
                found.symbol(),
                found.note().fileOffset(),
                false,
                false,
                Site.Cost.EMULATED.label(),
                "attached",
                "");
    }

    /// A function that is there and left alone.
    static ProbedFunction off(FunctionProbe hook, String library, String buildId, Symbols.Found found, String why) {
        return new ProbedFunction(
                0,
                hook,
                found.symbol(),
                library,
                buildId,
                found.symbol(),
                found.probeOffset(),
                false,
                false,
                found.site().cost().label(),
                "off",
                why);
    }

    /// A function that is not attached.
    static ProbedFunction failed(
            FunctionProbe hook, String symbol, String library, String buildId, String state, String why) {
        return new ProbedFunction(0, hook, symbol, library, buildId, symbol, 0, false, false, "", state, why);
    }

    boolean isAttached() {
        return state.equals("attached");
    }

    /// How many instructions under its probes a call makes the kernel single-step, each with a debug trap.
    int traps() {
        return (cost.equals(Site.Cost.SINGLE_STEPPED.label()) ? 1 : 0) + (left && !early ? 1 : 0);
    }

    /// Whether it has a number, by which its calls are counted while it is attached.
    boolean isNumbered() {
        return id > 0;
    }

    /// The same, not attached at the moment.
    ProbedFunction resting(String reason) {
        return new ProbedFunction(id, hook, name, library, buildId, symbol, site, left, early, cost, "off", reason);
    }

    /// The same, refused by the kernel.
    ProbedFunction refused(String how, String reason) {
        return new ProbedFunction(
                id, hook, name, library, buildId, symbol, site, left, early, cost, how, reason);
    }

    private String end() {
        String exits = early ? "early" : "exits";
        return left ? exits : hook.role().returns() ? "return" : "none";
    }

    /// The row of the footer.
    ///
    /// @param openBefore calls that were open when the file began
    /// @param openAfter calls that were open when it ended
    Footer.ProbeState describe(FunctionCounts counts, long openBefore, long openAfter) {
        return new Footer.ProbeState(
                hook.probe().kind(),
                hook.layer() == Layer.NONE ? "" : hook.layer().title(),
                name,
                library,
                buildId,
                symbol,
                site,
                cost,
                isNumbered() ? end() : null,
                state,
                why,
                counts.entries(),
                counts.returns(),
                counts.events(),
                counts.lost(),
                counts.filtered(),
                counts.sampledOut(),
                counts.covered(),
                counts.noReturn(),
                openBefore,
                openAfter);
    }
}
