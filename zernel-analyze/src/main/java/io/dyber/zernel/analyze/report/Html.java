package io.dyber.zernel.analyze.report;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Pieces of an HTML page.
final class Html {
    /// Light or dark as the reader's system is.
    static final String STYLE =
            """
            :root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #2a7de1; }
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
            h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }
            h3 { font-size: 1rem; margin: .2rem 0; } p { margin: .3rem 0; } .facts { opacity: .75; }
            code, pre { font-family: ui-monospace, monospace; font-size: .85em; overflow-wrap: anywhere; }
            pre { white-space: pre-wrap; background: var(--soft); padding: .6rem; }
            article { border: 1px solid var(--line); border-left: .4rem solid #3a9; padding: .5rem .8rem; margin: .6rem 0; }
            article.high { border-left-color: #d33; } article.medium { border-left-color: #e90; }
            dl { display: grid; grid-template-columns: 3rem 1fr; margin: .3rem 0; } dt { opacity: .6; } dd { margin: 0; }
            .wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; }
            th, td { padding: .15rem .6rem .15rem 0; text-align: left; border-bottom: 1px solid var(--soft); }
            td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
            .stack { display: flex; height: 1.6rem; margin: .5rem 0; } .key { display: inline-block; width: .8em; height: .8em;
            margin-right: .5em; } svg { width: 100%; height: 5rem; display: block; }
            .DataLoading { background: #e0a030; } .GpuCompute { background: #3a9d5d; } .NcclCollective { background: #a05bc9; }
            .OptimizerStep { background: #3b7dd8; } .Unknown { background: #8889; }
            rect.s0 { fill: var(--accent); } .memory rect.s0 { opacity: .4; } rect.s1 { fill: var(--accent); }
            """;

    private Html() {}

    /// Text with its special characters escaped; nothing for null.
    static String text(@Nullable String text) {
        return text == null
                ? ""
                : text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }

    /// A picture of bars as high as the numbers from 0 to 1; later series lie over earlier ones.
    static String bars(String name, List<List<Double>> series) {
        int count = Math.max(1, series.getFirst().size());
        StringBuilder svg = new StringBuilder();
        svg.append("<svg class=\"").append(name).append("\" viewBox=\"0 0 ").append(count);
        svg.append(" 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"").append(name).append("\">");
        for (int i = 0; i < series.size(); i++) {
            for (int x = 0; x < series.get(i).size(); x++) {
                double height = 100 * series.get(i).get(x);
                svg.append(String.format(
                        Locale.ROOT,
                        "<rect class=\"s%d\" x=\"%.2f\" y=\"%.1f\" width=\"0.9\" height=\"%.1f\"/>",
                        i,
                        (double) x,
                        100 - height,
                        height));
            }
        }
        return svg.append("</svg>").toString();
    }
}
