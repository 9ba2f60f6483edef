package io.dyber.zernel.record.simulate;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/// What is wrong with a job on purpose: causes, and how much of each. What an amount means is the business of whoever
/// asks for it. A cause that is taken out again keeps its amount, because some of what belongs to it stays.
record InjectedCauses(Map<Scenario, Double> amounts, Set<Scenario> removed) {
    static InjectedCauses nothing() {
        return new InjectedCauses(Map.of(), Set.of());
    }

    InjectedCauses with(Scenario cause, double amount) {
        Map<Scenario, Double> more = new EnumMap<>(Scenario.class);
        more.putAll(amounts);
        more.put(cause, amount);
        return new InjectedCauses(more, removed);
    }

    InjectedCauses without(Scenario cause) {
        return new InjectedCauses(amounts, Set.of(cause));
    }

    boolean has(Scenario cause) {
        return amounts.containsKey(cause) && !removed.contains(cause);
    }

    /// 0 when it is not planted, or taken out.
    double amount(Scenario cause) {
        return has(cause) ? size(cause) : 0;
    }

    /// The same, also when it is taken out.
    double size(Scenario cause) {
        return amounts.getOrDefault(cause, 0.0);
    }
}
