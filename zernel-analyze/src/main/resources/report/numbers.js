// Numbers as people read them, three significant digits.

import {up} from "./charts.js";

export function scaled(value, ...units) {
  let unit = 0;
  for (; Math.abs(value) >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  const size = Math.abs(value);
  return `${up(value).toFixed(unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)} ${units[unit]}`;
}
export function time(ns) {
  const seconds = Math.round(ns / 1e9);
  return ns < 100e9 ? scaled(ns, "ns", "us", "ms", "s") : `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, "0")} s`;
}
export const millis = ms => time(ms * 1e6);
export const size = bytes => scaled(bytes, "B", "kB", "MB", "GB", "TB");
export const count = n => n.toLocaleString("en");
export const percent = share => `${up(100 * share).toFixed(1)} %`;
export const number = value => Number.isInteger(value) ? String(value) : up(value).toPrecision(4);
