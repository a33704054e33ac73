/* Three inputs for the table of published insert speeds: documents a second, their size, secondary indexes. The rows that
   bear the load are read from the table on the page, and the inputs are in its address: ?load=20000&kib=4&indexes=4. */
(() => {
  const place = document.getElementById("sizing-inserts-form");
  const table = document.querySelector("#sizing-inserts table");
  if (!place || !table) return;

  const MOST = Number(place.dataset.most) / 100;
  const FIELDS = [
    ["load", "Documents a second", 20000, 1],
    ["kib", "Size of a document (KiB)", 4, "any"],
    ["indexes", "Secondary indexes", 4, 1],
  ];
  const make = (tag, ...content) => {
    const made = document.createElement(tag);
    made.append(...content);
    return made;
  };
  const number = (cell) => Number((cell.dataset.v ?? cell.textContent).replaceAll(",", ""));
  const published = [...table.tBodies[0].rows].map((row) => {
    const cells = [...row.cells];
    const [, kib, indexes] = cells[0].textContent.match(/^(\d+) KiB, (\d+) index/);
    const [machine, before, speed, , , , , , price, priced, batch, inserted, memory, cache] = cells.slice(1);
    return {
      kib: Number(kib), indexes: Number(indexes), speed: number(speed), tier: machine.textContent.match(/\d+/)[0],
      price: price.dataset.t ? null : number(price), about: cells[0].textContent, link: `#${row.id}`,
      cells: [machine, before, memory, cache, speed, price, batch, inserted, priced].map((cell) => (cell.dataset.t ? "not published" : cell.textContent)),
    };
  });

  const asked = new URLSearchParams(location.search);
  const inputs = FIELDS.map(([name, label, usual, step]) => {
    const input = make("input");
    Object.assign(input, { type: "number", name, min: name === "indexes" ? 0 : 0.001, step, required: true });
    if (name === "load") input.min = 1;
    input.value = asked.get(name) ?? usual;
    return [input, make("label", label, input)];
  });
  const form = make("form", ...inputs.map(([, label]) => label));
  form.className = "sizing-form";
  const answer = make("div");
  answer.setAttribute("aria-live", "polite");
  place.append(form, answer);

  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
  const headed = (scope, text) => Object.assign(make("th", text), { scope });

  function listed(rows, load) {
    const link = (one) => Object.assign(make("a", one.about), { href: one.link });
    const body = rows.map((one) => {
      const [machine, before, memory, cache, , price, batch, inserted, priced] = one.cells;
      const run = `, ${batch} a batch; ${inserted} after ${before}`;
      // Published for larger documents or more indexes, it takes less of the machine here.
      const used = `${one.more ? "at most " : ""}${percent(load / one.speed)}`;
      const cost = one.price === null ? price : `${price} on ${priced}`;
      const values = [load > MOST * one.speed && !one.more ? `${used}, no room` : used, cost, `${memory} GB, ${cache} GB`, make("span", link(one), run)];
      return make("tr", headed("row", machine), ...values.map((value) => make("td", value)));
    });
    const heads = ["Machine", "Used", "USD/h", "Memory, cache", "Published for; documents inserted, after those already there"];
    const head = make("tr", ...heads.map((text) => headed("col", text)));
    const scroll = make("div", make("table", make("thead", head), make("tbody", ...body)));
    Object.assign(scroll, { className: "sizing-answer", tabIndex: 0, role: "group", ariaLabel: "Machines that handle the load" });
    return scroll;
  }

  // Each machine with its nearest row: the fewest indexes, then the smallest size, then the least speed.
  function nearest(rows) {
    const order = (a, b) => a.indexes - b.indexes || a.kib - b.kib || a.speed - b.speed;
    const found = new Map();
    for (const one of [...rows].sort(order)) if (!found.has(one.cells[0])) found.set(one.cells[0], one);
    return [...found.values()];
  }

  function show() {
    if (!form.checkValidity()) return answer.replaceChildren(make("p", "Give three numbers. Documents and KiB must be above 0."));
    const [load, kib, indexes] = inputs.map(([input]) => input.valueAsNumber);
    const like = nearest(published.filter((one) => one.kib >= kib && one.indexes >= indexes))
      .map((one) => ({ ...one, more: one.kib > kib || one.indexes > indexes }));
    const order = (a, b) => a.tier - b.tier || (a.price ?? 1e9) - (b.price ?? 1e9) || a.speed - b.speed;
    const bear = like.filter((one) => one.speed >= load).sort(order);
    const roomy = bear.find((one) => load <= MOST * one.speed);
    // A machine is too slow if a row with no more work than was asked was; a slow row with more work says nothing.
    const tooSlow = ({ cells }) => published.findLast((row) => row.cells[0] === cells[0] && row.kib <= kib && row.indexes <= indexes && row.speed < load);
    const short = like.filter((one) => one.speed < load).sort((a, b) => b.speed - a.speed);
    const slow = short.map(tooSlow).filter(Boolean);
    const open = short.filter((one) => !tooSlow(one));
    const parts = [];
    if (!like.length) {
      parts.push(make("p", make("strong", "No published row fits"),
        ": none has documents as large as yours and as many indexes."));
    } else if (!bear.length) {
      const [best] = short;
      parts.push(make("p", make("strong", "No published row handles this load"),
        `: the fastest, ${best.cells[0]}, inserted ${best.cells[4]} documents a second.`));
    } else {
      parts.push(roomy
        ? make("p", make("strong", `${roomy.cells[0]}: ${roomy.more ? "at most " : ""}${percent(load / roomy.speed)}`),
          ` of its published speed. It is the smallest machine that is known to have room, with at most ${percent(MOST)} used.`)
        : make("p", make("strong", "No machine is known to have room for this load"), `: the load takes more than ${percent(MOST)} of each published speed.`));
    }
    if (slow.length && bear.length) parts.push(make("p", `Too slow: ${slow.map((one) => `${one.cells[0]} (${percent(load / one.speed)})`).join("; ")}.`));
    for (const about of new Set(open.map((one) => one.about))) {
      const machines = open.filter((one) => one.about === about).map((one) => one.cells[0]);
      parts.push(make("p", `Not known: ${machines.join("; ")}. The only published figures are for ${about.replace(", ", " and ")}, which is more than you ask for.`));
    }
    if (bear.length) parts.push(listed(bear, load));
    answer.replaceChildren(...parts);
  }

  form.addEventListener("input", () => {
    const address = new URL(location.href);
    for (const [input] of inputs) address.searchParams.set(input.name, input.value);
    history.replaceState(history.state, "", address);
    show();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
