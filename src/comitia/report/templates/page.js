"use strict";
// The page without its figures: theme, tables that sort and filter, copying.

const root = document.documentElement;
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

const theme = document.getElementById("theme");
function showTheme() {
  theme.setAttribute("aria-pressed", String(isDark()));
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.title = `Switch to ${isDark() ? "light" : "dark"} colours`;
  document.dispatchEvent(new Event("themechange"));
}
try { root.dataset.theme = localStorage.getItem("comitia-theme") || ""; } catch { /* storage may be forbidden */ }
if (!root.dataset.theme) delete root.dataset.theme;
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("comitia-theme", root.dataset.theme); } catch { /* as above */ }
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showTheme();

// Sorting: numbers by data-value, names as text, missing values last; the first click shows the smallest first.
function sortTable(table, column, descending) {
  const body = table.tBodies[0];
  const key = row => {
    const cell = row.cells[column];
    if (!cell.classList.contains("number")) return cell.textContent.trim();
    return "value" in cell.dataset ? Number(cell.dataset.value) : null;
  };
  const compare = (a, b) => typeof a === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  const rows = [...body.rows].map(row => [key(row), row]);
  rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : (descending ? -1 : 1) * compare(a, b));
  body.append(...rows.map(([, row]) => row));
}
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    sortTable(table, column, descending);
  }));
}

// Filtering: a row stays when its names hold every word.
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("table.comparison tbody tr")];
  for (const row of rows) {
    const names = [...row.querySelectorAll(".name")].map(cell => cell.textContent.toLowerCase()).join(" ");
    row.hidden = !words.every(word => names.includes(word));
  }
  const shown = rows.filter(row => !row.hidden).length;
  document.getElementById("filter-status").textContent = words.length ? `${shown} of ${rows.length} rows` : "";
});

// Copying: the clipboard where the browser lends it, otherwise a selection.
const copies = JSON.parse(document.getElementById("copies").textContent);
async function copyText(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* not lent: select and copy */ }
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", async () => {
    const place = button.closest(".table, .use");
    const copied = await copyText(copies[place.id][button.dataset.copy]);
    button.focus();
    place.querySelector(".copy [role=status]").textContent = copied ? `Copied as ${button.textContent.replace("Copy as ", "")}` : "The browser refused to copy";
  });
}
