/* Headers of tables as buttons that sort, by the values as they came, and a word on results that have grown too old since
   the page was made. Without this script tables are complete, in the order of their pipelines, and say on which day they
   are too old. One listener on `document` serves pages that come in later (instant navigation) as well. */
(() => {
  if (window.mongoTables) return;
  window.mongoTables = true;

  const FEWEST_ROWS = 3;
  const NUMBER = /^[-+\u2212]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  // NaN is the least number, as MongoDB sorts it.
  const NOT_FINITE = new Map([["NaN", -Infinity], ["-Infinity", -Infinity], ["Infinity", Infinity]]);
  const NOTHING = /^(n\/a|[-\u2013\u2014]|)$/i;
  const GROUPED = /(\d)[,\u00a0\u2009\u202f](?=\d{3}(?!\d))/g;
  const DAY = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/;
  const words = new Intl.Collator("en", { numeric: true });

  const rawOf = (cell) => cell.dataset.v ?? cell.textContent.trim();
  const plain = (text) => text.replace(GROUPED, "$1").replace("\u2212", "-").replace(/\s*%$/, "");
  const isAbsent = (cell) => "t" in cell.dataset || NOTHING.test(rawOf(cell));
  const isNumber = (text) => NOT_FINITE.has(text) || NUMBER.test(plain(text));
  const number = (text) => NOT_FINITE.get(text) ?? Number(plain(text));
  const whole = (text) => /^-?\d+$/.test(text);

  // Beyond 2^53 two integers may be the same double.
  const numbers = (a, b) => {
    const [one, other] = [number(a), number(b)];
    if (one === other && whole(a) && whole(b)) return Number(BigInt(a) - BigInt(b));
    return one < other ? -1 : one > other ? 1 : 0;
  };
  const dates = (a, b) => Date.parse(a) - Date.parse(b);

  function orderOf(texts) {
    if (texts.every(isNumber)) return { compare: numbers, first: "descending" };
    if (texts.every((text) => DAY.test(text))) return { compare: dates, first: "descending" };
    return { compare: words.compare, first: "ascending" };
  }

  function next(now, first) {
    if (!now) return first;
    return now === first ? (first === "ascending" ? "descending" : "ascending") : "";
  }

  const original = new WeakMap();

  function sort(header) {
    const table = header.closest("table");
    const body = table.tBodies[0];
    if (!original.has(table)) original.set(table, [...body.rows]);
    const keyed = original.get(table).map((row) => [row, row.cells[header.cellIndex]]);
    const present = keyed.filter(([, cell]) => !isAbsent(cell)).map(([row, cell]) => [row, rawOf(cell)]);
    const { compare, first } = orderOf(present.map(([, text]) => text));
    const way = next(header.getAttribute("aria-sort"), first);
    const sign = way === "descending" ? -1 : 1;
    // sort() is stable: equal rows stay as the pipeline has them, whichever way.
    if (way) present.sort((a, b) => sign * compare(a[1], b[1]));
    const absent = keyed.filter(([, cell]) => isAbsent(cell));
    body.append(...(way ? [...present, ...absent] : keyed).map(([row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    if (way) header.setAttribute("aria-sort", way);
  }

  function buttons() {
    for (const table of document.querySelectorAll(".mongo-table__scroll table")) {
      if (table.tBodies[0].rows.length < FEWEST_ROWS || table.querySelector(".mongo-table__sort")) continue;
      for (const header of table.tHead.rows[0].cells) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "mongo-table__sort";
        button.append(...header.childNodes);
        header.append(button);
      }
    }
  }

  // The day is that of the reader: a site that nobody builds any more is the one whose results are old.
  function warnings() {
    const today = new Date().toISOString().slice(0, 10);
    for (const due of document.querySelectorAll(".mongo-table__due")) {
      const figure = due.closest(".mongo-table");
      if (today <= due.dateTime || figure.querySelector(".mongo-table__old")) continue;
      const warning = document.createElement("p");
      warning.className = "mongo-table__old";
      warning.textContent = `Out of date: these results were ${due.textContent}.`;
      const caption = figure.querySelector("figcaption");
      if (caption) caption.after(warning);
      else figure.prepend(warning);
    }
  }

  function prepare() {
    buttons();
    warnings();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".mongo-table__sort");
    if (button) sort(button.closest("th"));
  });

  // Material and Zensical tell of every page that they show; elsewhere there is one.
  const begin = () => (window.document$ ? window.document$.subscribe(prepare) : prepare());
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
