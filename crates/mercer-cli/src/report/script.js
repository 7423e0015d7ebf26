// Sorts a table by the column whose head is chosen: numbers the largest first, words by the alphabet, and the other way
// round the second time. Cells without a value stay last.
"use strict";
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  const sort = (column) => {
    const head = heads[column];
    const numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    const key = (row) => {
      const cell = row.cells[column];
      return numeric ? (cell.dataset.v === undefined ? NaN : Number(cell.dataset.v)) : cell.textContent;
    };
    const compare = (a, b) => {
      if (!numeric) return a.localeCompare(b, undefined, { numeric: true });
      return Number.isNaN(a) || Number.isNaN(b) ? 0 : a - b;
    };
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      const none = Number(Number.isNaN(a)) - Number(Number.isNaN(b));
      return none || (down ? -compare(a, b) : compare(a, b));
    });
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map(([, row]) => row));
  };
  heads.forEach((head, column) => {
    head.classList.add("sorts");
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(column));
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort(column);
      }
    });
  });
}
