/* Headers of tables become buttons that sort by the raw values, and long tables get a filter box. The page's address
   keeps order and filter. Charts and headers have tooltips, and results that became too old after the build get a
   warning. Without this script, tables are complete, in the order of their pipelines, and state the day on which they
   are too old. Listeners on `document` also serve pages that are loaded later (instant navigation). */
(() => {
  if (window.mongoTables) return;
  window.mongoTables = true;

  const FEWEST_ROWS = 3;
  const FEWEST_TO_FILTER = 41;
  const NUMBER = /^[-+\u2212]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
  // NaN is the least number, as MongoDB sorts it.
  const NOT_FINITE = new Map([["NaN", -Infinity], ["-Infinity", -Infinity], ["Infinity", Infinity]]);
  const NOTHING = /^(n\/a|[-\u2013\u2014]|)$/i;
  const GROUPED = /(\d)[,\u00a0\u2009\u202f](?=\d{3}(?!\d))/g;
  const DAY = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/;
  const collator = new Intl.Collator("en", { numeric: true });

  const rawOf = (cell) => cell.dataset.v ?? cell.textContent.trim();
  const ungrouped = (text) => text.replace(GROUPED, "$1");
  const plain = (text) => ungrouped(text).replace("\u2212", "-").replace(/\s*%$/, "");
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
    return { compare: (a, b) => collator.compare(ungrouped(a), ungrouped(b)), first: "ascending" };
  }

  function next(now, first) {
    if (!now) return first;
    return now === first ? (first === "ascending" ? "descending" : "ascending") : "";
  }

  const original = new WeakMap();
  // The header by which a table is sorted, and the direction. Other scripts on the site write `aria-sort`, too.
  const sorted = new WeakMap();

  const originalOf = (table) => original.get(table) ?? original.set(table, [...table.tBodies[0].rows]).get(table);
  const headersOf = (table) => [...table.tHead.rows[0].cells];

  function ofColumn(table, header) {
    const keyed = originalOf(table).map((row) => [row, row.cells[header.cellIndex]]);
    const present = keyed.filter(([, cell]) => !isAbsent(cell)).map(([row, cell]) => [row, rawOf(cell)]);
    const absent = keyed.filter(([, cell]) => isAbsent(cell));
    return { keyed, present, absent, order: orderOf(present.map(([, text]) => text)) };
  }

  function arrange(table, header, way, { keyed, present, absent, order } = ofColumn(table, header)) {
    const sign = way === "descending" ? -1 : 1;
    // sort() is stable: rows with equal values keep the order of the pipeline, in both directions.
    if (way) present.sort((a, b) => sign * order.compare(a[1], b[1]));
    table.tBodies[0].append(...(way ? [...present, ...absent] : keyed).map(([row]) => row));
    for (const other of headersOf(table)) other.removeAttribute("aria-sort");
    if (way) header.setAttribute("aria-sort", way);
    sorted.set(table, way ? { header, way } : undefined);
  }

  function sort(header) {
    const table = header.closest("table");
    const column = ofColumn(table, header);
    const now = sorted.get(table)?.header === header ? sorted.get(table).way : "";
    arrange(table, header, next(now, column.order.first), column);
    keep(table);
  }

  function buttons() {
    for (const table of document.querySelectorAll(".mongo-table__scroll table")) {
      if (table.tBodies[0].rows.length < FEWEST_ROWS || table.querySelector(".mongo-table__sort")) continue;
      table.dataset.order = "[]";
      for (const header of headersOf(table)) {
        // With these attributes, tablesort and DataTables do not sort the column.
        header.dataset.sortMethod = "none";
        header.dataset.orderable = "false";
        const button = document.createElement("button");
        button.type = "button";
        button.className = "mongo-table__sort";
        button.append(...header.childNodes);
        header.append(button);
      }
    }
  }

  // -- a box that filters the rows of a long table

  const searched = new WeakMap();

  // The shown text and the raw value, so that 12345 also finds "12,345".
  const textOf = (row) => searched.get(row) ?? searched.set(row,
    [...row.cells].map((cell) => `${cell.textContent}\n${cell.dataset.v ?? ""}`).join("\n").toLowerCase()).get(row);
  const boxOf = (table) => table.closest(".mongo-table__scroll").previousElementSibling;
  const filterOf = (table) => boxOf(table)?.matches(".mongo-table__filter") ? boxOf(table).querySelector("input") : null;

  function filters() {
    for (const table of document.querySelectorAll(".mongo-table__scroll table")) {
      if (table.tBodies[0].rows.length < FEWEST_TO_FILTER || filterOf(table)) continue;
      const box = document.createElement("div");
      const [label, input, count] = ["label", "input", "output"].map((tag) => document.createElement(tag));
      box.className = "mongo-table__filter";
      input.type = "search";
      input.autocomplete = "off";
      input.spellcheck = false;
      label.append("Filter rows ", input);
      box.append(label, " ", count);
      table.closest(".mongo-table__scroll").before(box);
      filter(table);
    }
  }

  // Show only the rows that contain all words.
  function filter(table) {
    const input = filterOf(table);
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !words.every((word) => textOf(row).includes(word));
    const count = input.closest("div").querySelector("output");
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    count.dataset.words = input.value.trim();
  }

  function refilter(table, text) {
    filterOf(table).value = text;
    filter(table);
    keep(table);
  }

  const tableOf = (input) => input.closest(".mongo-table__filter").nextElementSibling.querySelector("table");

  // -- order and filter of tables in the page's address: ?view=ID.COLUMN.WORDS, once for each table

  // These selectors exclude the table of runs in the fold below a figure.
  const OWN = ":scope > .mongo-table__scroll table, :scope > .mongo-chart__values table";
  const WAYS = { a: "ascending", d: "descending" };

  function viewOf(table) {
    const { header, way } = sorted.get(table) ?? {};
    const order = header ? `${header.cellIndex + 1}${way[0]}` : "";
    const words = filterOf(table)?.value.trim() ?? "";
    return order || words ? `${order}.${words}` : "";
  }

  function keep(table) {
    const figure = table.closest("figure[id]");
    if (!figure || figure.querySelector(OWN) !== table) return;
    const address = new URL(location.href);
    const others = address.searchParams.getAll("view").filter((view) => view.split(".")[0] !== figure.id);
    address.searchParams.delete("view");
    for (const view of others) address.searchParams.append("view", view);
    if (viewOf(table)) address.searchParams.append("view", `${figure.id}.${viewOf(table)}`);
    // Some pages have no address that can change (srcdoc, about:blank). Themes keep their own state in the history.
    try { history.replaceState(history.state, "", address); } catch { /* the view is not kept */ }
  }

  function restore() {
    const views = new URLSearchParams(location.search).getAll("view");
    const restored = views.filter((view) => {
      const [id, order = "", ...words] = view.split(".");
      const table = document.getElementById(id)?.querySelector(OWN);
      if (!table) return false;
      const header = headersOf(table)[parseInt(order, 10) - 1];
      if (header?.querySelector(".mongo-table__sort") && WAYS[order.slice(-1)]) arrange(table, header, WAYS[order.slice(-1)]);
      if (filterOf(table)) filterOf(table).value = words.join(".");
      if (filterOf(table)) filter(table);
      return true;
    });
    const figures = restored.map((view) => document.getElementById(view.split(".")[0]));
    const unfolded = figures.filter(unfold);
    const found = target();
    if (found && (restored.length || found.unfolded)) found.place.scrollIntoView();
    else if (!found) unfolded[0]?.scrollIntoView();
  }

  // Return the element that the page's address names. If a filter hides this row, show it.
  function target() {
    // Our ids need no decoding, and decoding may fail for other ids.
    const place = document.getElementById(location.hash.slice(1));
    if (place?.matches("tr[hidden]")) refilter(place.closest("table"), "");
    return place && { place, unfolded: Boolean(place.closest(".mongo-table")) && unfold(place) };
  }

  // Open the folds and the tabs around a place. Return whether any was closed.
  function unfold(place) {
    let opened = false;
    for (let at = place; at; at = at.parentElement) {
      const input = at.matches("details:not([open])") ? null : tabOf(at);
      if (at.matches("details:not([open])")) at.open = opened = true;
      else if (input && !input.checked) {
        input.click();
        opened = true;
      }
    }
    return opened;
  }

  // Return the button of a tab in either style of https://facelessuser.github.io/pymdown-extensions/extensions/tabbed/.
  function tabOf(block) {
    const tabs = block.matches(".tabbed-block") ? block.closest(".tabbed-set") : null;
    if (tabs) return tabs.querySelectorAll(":scope > input")[[...block.parentElement.children].indexOf(block)];
    const before = block.matches(".tabbed-set > .tabbed-content") ? block.previousElementSibling : null;
    return before?.matches("label") ? document.getElementById(before.htmlFor) : null;
  }

  // -- tooltips: one small box for points of charts, meanings of headers, and titles

  const TITLED = ".mongo-table :is(abbr, td, th, span):is([title], [data-tip]), .mongo-drawn";
  const REACH = { mouse: 10, touch: 24 };
  const HINT = "Arrow keys go from point to point, Escape closes.";
  const tip = document.createElement("div");
  tip.className = "mongo-tip";
  tip.id = "mongo-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  let shown = null;  // { owner, at, place, by }: an element with a title, or a chart with the number of a point
  let dismissed = null;  // closed by Escape, until the pointer leaves
  let touched = false;

  const AREA = " g .mongo-chart__area";  // the symbols of a legend are in no group
  const drawingOf = (chart) => [...chart.querySelectorAll("svg")].find((svg) => svg.getClientRects().length);
  const pointsOf = (chart) => [...drawingOf(chart).querySelectorAll(`:scope${AREA}`)];

  // The narrow drawing has the points of the wide one, in the same order. Browsers would show titles beside the tooltip.
  function textsOf(chart) {
    return [...chart.querySelectorAll(`.mongo-chart__wide${AREA}`)].map((area) => {
      const title = area.querySelector("title");
      if (title) area.dataset.tip = title.textContent;
      title?.remove();
      return area.dataset.tip ?? "";
    });
  }

  function show(next, text) {
    hide();
    shown = next;
    tip.setAttribute("aria-live", next.by === "keys" ? "polite" : "off");
    tip.textContent = text;
    tip.hidden = false;
    (next.owner.closest("main") ?? document.body).append(tip);
    place(next.place.getBoundingClientRect());
    if (next.by === "focus") document.activeElement.setAttribute("aria-describedby", tip.id);
  }

  // Place the tooltip above a box, or below it if there is no room, and never beyond the sides of the page.
  function place(box) {
    tip.style.left = tip.style.top = "0";
    const own = tip.getBoundingClientRect();
    const most = document.documentElement.clientWidth - own.width - 4;
    const left = Math.max(4, Math.min(box.left + box.width / 2 - own.width / 2, most));
    const above = box.top - own.height - 6;
    tip.style.left = `${left - own.left}px`;
    tip.style.top = `${(above < 0 ? box.bottom + 6 : above) - own.top}px`;
  }

  function hide() {
    if (!shown) return;
    const { owner, place } = shown;
    shown = null;
    tip.hidden = true;
    place.classList.remove("mongo-chart__here");
    if (owner.dataset.tip) owner.title = owner.dataset.tip;
    delete owner.dataset.tip;
    for (const one of document.querySelectorAll(`[aria-describedby="${tip.id}"]`)) one.removeAttribute("aria-describedby");
  }

  function showTitle(owner, by) {
    if (shown?.owner === owner || (by === "mouse" && dismissed === owner)) return;
    const text = owner.dataset.tip ?? owner.title;
    if (!text) return;
    show({ owner, place: owner, by }, text);
    owner.dataset.tip = text;
    owner.removeAttribute("title");
  }

  function showPoint(chart, at, by) {
    const point = pointsOf(chart)[at];
    if (!point || shown?.place === point || (by === "mouse" && dismissed === point)) return;
    show({ owner: chart, place: point, at, by }, textsOf(chart)[at]);
    point.classList.add("mongo-chart__here");
    chart.dataset.at = at;
    if (by === "keys") point.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (by !== "focus") return;
    tip.append(document.createElement("small"));
    tip.lastChild.append(HINT);
    place(point.getBoundingClientRect());
  }

  // Return the number of the point that is nearest to the pointer, or -1 if no point is within reach.
  function nearest(chart, { clientX: x, clientY: y }, reach) {
    textsOf(chart);
    const far = pointsOf(chart).map((point, at) => {
      const { left, right, top, bottom } = point.getBoundingClientRect();
      const beside = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
      return { at, beside, middle: Math.hypot((left + right) / 2 - x, (top + bottom) / 2 - y) };
    }).filter(({ beside }) => beside <= reach);
    return far.sort((a, b) => a.beside - b.beside || a.middle - b.middle)[0]?.at ?? -1;
  }

  // The tooltip stays while the pointer is on it, unless the pointer is also near another point.
  function pointed(event) {
    if (event.pointerType !== "mouse") return;
    const onTip = tip.contains(event.target);
    const chart = onTip ? shown?.owner.closest(".mongo-chart") : event.target.closest?.(".mongo-chart");
    const at = chart ? nearest(chart, event, REACH.mouse) : -1;
    if (at >= 0) return showPoint(chart, at, "mouse");
    if (onTip) return;
    const titled = event.target.closest?.(TITLED);
    if (titled) return showTitle(titled, "mouse");
    dismissed = null;
    if (shown?.by === "mouse") hide();
  }

  // A tap shows the tooltip that a resting mouse would show. A tap on a header sorts, too.
  function tapped(event) {
    if (tip.contains(event.target)) return;
    const chart = event.target.closest?.(".mongo-chart");
    const at = chart ? nearest(chart, event, REACH.touch) : -1;
    const titled = event.target.closest?.(TITLED) ?? explained(event.target.closest?.(".mongo-table__sort"));
    const was = shown?.place;
    hide();
    if (at >= 0 && pointsOf(chart)[at] !== was) showPoint(chart, at, "touch");
    else if (titled && titled !== was && !event.target.closest("a")) showTitle(titled, "touch");
  }

  const explained = (button) => button?.querySelector("abbr:is([title], [data-tip])");

  function focused({ target }) {
    if (!target.matches?.(":focus-visible")) return;
    if (target.matches(".mongo-chart")) return showPoint(target, Number(target.dataset.at ?? 0), "focus");
    const titled = target.matches(TITLED) ? target : target.matches(".mongo-table__sort") ? explained(target) : null;
    if (titled) showTitle(titled, "focus");
  }

  // Beyond the first and the last point, the keys scroll the page.
  function stepped(event) {
    const chart = event.target;
    const count = pointsOf(chart).length;
    const now = shown?.owner === chart ? shown.at : -1;
    const steps = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: count - 1 };
    const at = now < 0 && event.key.startsWith("Arrow") ? Number(chart.dataset.at ?? 0) : steps[event.key];
    if (!(at >= 0 && at < count)) return;
    event.preventDefault();
    showPoint(chart, at, "keys");
  }

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key !== "Escape") return event.target.matches?.(".mongo-chart") ? stepped(event) : undefined;
    if (event.target.matches?.(".mongo-table__filter input")) refilter(tableOf(event.target), "");
    dismissed = shown?.place ?? null;
    hide();
  }

  // Let the keyboard reach the tooltips of pictures, and of headers without a sort button.
  function reachable() {
    for (const one of document.querySelectorAll(".mongo-drawn, .mongo-table thead th > abbr[title]")) one.tabIndex = 0;
    for (const one of document.querySelectorAll(".mongo-drawn[title]")) {
      one.setAttribute("role", "img");
      one.setAttribute("aria-label", one.title);
    }
  }

  // Results become old after the build, so the reader's current day counts.
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
    hide();
    buttons();
    filters();
    reachable();
    warnings();
    restore();
  }

  // The capture phase comes before the listeners of other scripts on headers, which would sort by the same click.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".mongo-table__sort");
    if (button) event.stopPropagation();
    if (button) sort(button.closest("th"));
    if (touched) tapped(event);
  }, true);
  for (const kind of ["keydown", "keypress"]) {
    document.addEventListener(kind, (event) => {
      if (event.key === "Enter" && event.target.matches?.(".mongo-table__sort")) event.stopPropagation();
    }, true);
  }
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.(".mongo-table__filter input")) refilter(tableOf(target), target.value);
  });
  document.addEventListener("pointerdown", (event) => { touched = event.pointerType !== "mouse"; });
  document.addEventListener("pointermove", pointed);
  document.addEventListener("keydown", pressed);
  document.addEventListener("focusin", focused);
  document.addEventListener("focusout", () => { if (shown?.by !== "mouse") hide(); });
  addEventListener("resize", hide);
  addEventListener("hashchange", () => {
    const found = target();
    if (found?.unfolded) found.place.scrollIntoView();
  });

  // Material and Zensical load several pages into one document, and announce each page. Other themes load one page.
  const begin = () => (window.document$ ? window.document$.subscribe(prepare) : prepare());
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
