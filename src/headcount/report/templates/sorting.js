  // Sorting: by the figure where a cell has one, else by its text; missing figures come last.
  const key = (row, column) => {
    const cell = row.children[column];
    if (cell.dataset.value !== undefined && cell.dataset.value !== "") return Number(cell.dataset.value);
    const text = cell.firstChild ? cell.firstChild.textContent.trim() : "";
    return text === "–" ? null : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const makeSortable = (table) => {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [key(row, column), row]);
        rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : (down ? -1 : 1) * compare(a, b)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  };
