// What a page is about: the JSON in it. What cannot be shown is replaced, and a number that a double cannot hold stays the text that
// it was.

const UNSEEN = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

export const data = JSON.parse(document.getElementById("report").textContent, (key, value, source) =>
    typeof value === "string" ? value.replace(UNSEEN, "\uFFFD")
    : Number.isInteger(value) && !Number.isSafeInteger(value) && !key.endsWith("_ns") ? source?.source ?? value : value);
