-- What every view and finding may use. Macros only turn numbers into text; arithmetic stays in nanoseconds and bytes.

-- Nanoseconds as text in milliseconds: 12345678 -> '12.3 ms'.
CREATE MACRO ms(ns) AS format('{:.1f} ms', ns / 1e6);

-- A share as text: 0.314 -> '31 %'.
CREATE MACRO pct(share) AS format('{:.0f} %', 100.0 * share);
