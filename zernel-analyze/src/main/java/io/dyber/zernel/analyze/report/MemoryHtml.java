package io.dyber.zernel.analyze.report;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/// GPU memory over time, with the line that it must not cross.
record MemoryHtml(PrintWriter out) {
    /// The capacity is drawn where the curve still shows below it.
    private static final double LEAST_OF_CAPACITY = 0.2;

    void write(GpuMemory memory) {
        long peak = memory.peak();
        boolean drawn = peak >= LEAST_OF_CAPACITY * memory.capacity() && memory.capacity() > 0;
        double top = drawn ? 1.05 * Math.max(peak, memory.capacity()) : Math.max(1, peak);
        int points = memory.reserved().size();
        out.println("<figure class=\"memory\"><h3>" + Html.text(memory.label()) + "</h3>");
        out.println("<div class=\"axis\"><span>" + Quantity.size(top) + "</span></div><div class=\"plot\">");
        out.println("<svg viewBox=\"0 0 " + points + " 100\" preserveAspectRatio=\"none\" role=\"img\" "
                + "aria-label=\"GPU memory over time\">");
        out.println("<path class=\"reserved\" d=\"" + area(memory.reserved(), top) + "\"/>");
        out.println("<path class=\"handed\" d=\"" + area(memory.handed(), top) + "\"/>");
        if (drawn) {
            double y = 100 - 100 * memory.capacity() / top;
            out.println(String.format(
                    Locale.ROOT,
                    "<line class=\"capacity\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"><title>capacity</title></line>",
                    points, y, y));
        }
        for (int x = 0; x < points; x++) {
            out.println("<rect class=\"hover\" x=\"" + x + "\" y=\"0\" width=\"1\" height=\"100\"><title>allocated "
                    + Quantity.size(memory.reserved().get(x)) + "\nhanded out " + Quantity.size(memory.handed().get(x))
                    + "</title></rect>");
        }
        out.println("</svg></div><figcaption>" + Quantity.glued(caption(memory, drawn)) + "</figcaption></figure>");
    }

    private static String caption(GpuMemory memory, boolean drawn) {
        String capacity = memory.capacity() == 0
                ? ""
                : "; the device has " + Quantity.size(memory.capacity()) + (drawn ? " (dashed)" : ", above the picture");
        return "Allocated at most " + Quantity.size(most(memory.reserved())) + ", handed out at most "
                + Quantity.size(most(memory.handed())) + capacity + ".";
    }

    private static long most(List<Long> bytes) {
        return bytes.stream().mapToLong(Long::longValue).max().orElse(0);
    }

    private static String area(List<Long> bytes, double top) {
        StringBuilder path = new StringBuilder("M0 100");
        for (long value : bytes) {
            path.append(String.format(Locale.ROOT, "V%.1fh1", 100 - 100 * value / top));
        }
        return path.append("V100z").toString();
    }
}
