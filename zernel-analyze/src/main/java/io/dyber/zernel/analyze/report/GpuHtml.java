package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Table;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/// What one GPU did over the time that a trace covers: shares of compute, communication and copies, one above the other.
record GpuHtml(PrintWriter out) {
    /// A column of the view, the colour it has, and what it is called.
    private record Work(String column, String colour, String name) {}

    private static final List<Work> WORK = List.of(
            new Work("compute_ns", "GpuCompute", "compute"),
            new Work("communication_ns", "NcclCollective", "communication that nothing hides"),
            new Work("copy_ns", "OptimizerStep", "copies alone"));

    /// @param points the rows of `gpu_curve` of one GPU
    void write(String label, List<Table.Row> points) {
        long length = points.getLast().integer("at_ns") + points.getLast().integer("point_ns")
                - points.getFirst().integer("at_ns");
        long last = points.getLast().integer("point") + 1;
        out.println("<figure class=\"memory\"><h3>" + Html.text(label) + "</h3><div class=\"plot\">");
        out.println("<svg viewBox=\"0 0 " + last + " 100\" preserveAspectRatio=\"none\" role=\"img\" "
                + "aria-label=\"What the GPU did over time\">");
        WORK.forEach(work -> out.println("<path class=\"" + work.colour() + "\" d=\"" + bars(points, work) + "\"/>"));
        for (Table.Row point : points) {
            out.println("<rect class=\"hover\" x=\"" + point.integer("point") + "\" y=\"0\" width=\"1\" height=\"100\"><title>"
                    + tooltip(point) + "</title></rect>");
        }
        out.println("</svg></div><div class=\"axis\"><span>0</span><span>" + Quantity.time(length) + "</span></div>");
        out.println("<ul class=\"legend\">");
        WORK.stream().filter(work -> points.stream().anyMatch(point -> point.integer(work.column()) > 0)).forEach(work ->
                out.println("<li><span class=\"key " + work.colour() + "\"></span>" + work.name() + "</li>"));
        out.println("<li class=\"quiet\">empty: idle</li></ul></figure>");
    }

    private static String bars(List<Table.Row> points, Work work) {
        StringBuilder path = new StringBuilder();
        for (Table.Row point : points) {
            double below = 0;
            for (Work lower : WORK.subList(0, WORK.indexOf(work))) {
                below += share(point, lower);
            }
            double height = share(point, work);
            if (height > 0.05) {
                path.append(String.format(Locale.ROOT, "M%d %.1fh1V%.1fh-1z",
                        point.integer("point"), 100 - below, 100 - below - height));
            }
        }
        return path.toString();
    }

    private static double share(Table.Row point, Work work) {
        return 100.0 * point.integer(work.column()) / point.integer("point_ns");
    }

    private static String tooltip(Table.Row point) {
        StringBuilder text = new StringBuilder();
        double idle = 100;
        for (Work work : WORK) {
            double share = share(point, work);
            idle -= share;
            if (share > 0) {
                text.append(work.name()).append(' ').append(Quantity.percent(share / 100)).append('\n');
            }
        }
        return text.append("idle ").append(Quantity.percent(Math.max(0, idle / 100))).toString();
    }
}
