"use strict";
(() => {
  // Blocks of data: deflated JSON in base64, in the page or in small scripts left beside it.
  const waiting = new Map();
  const known = new Map();

  async function inflated(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
  }

  window.penchantBlock = (name, text) => waiting.get(name)?.(text);

  function block(name, folder) {
    if (!known.has(name)) {
      const inside = document.getElementById(name);
      known.set(name, inside ? inflated(inside.textContent) : beside(name, folder));
    }
    return known.get(name);
  }

  function beside(name, folder) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      waiting.set(name, resolve);
      script.onerror = () => {
        known.delete(name);
        reject(new Error(`The tokens of this item are in the folder ${folder}, which is not beside this page.`));
      };
      script.src = `${encodeURIComponent(folder)}/${name}.js`;
      document.head.append(script);
    }).then(inflated);
  }

  // Small helpers. Text from the data is only ever set as text.
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  }

  function say(text) {
    document.getElementById("said").textContent = text;
  }

  // A label without what a chart cannot draw, or draws as something else (see report/figures.py).
  const bare = (text) => String(text).replace(/[\p{C}\u2028\u2029\ufffd␤¶]/gu, "");
  const plain = (text) => text.normalize("NFC").toLowerCase();
  const minus = (text) => text.replace("-", "−");
  const isRtl = (text) => /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(text);

  function shownNumber(value, column) {
    if (value === null) return "–";
    const text = value.toFixed(column.digits);
    return column.signed ? signed(text) : minus(text);
  }

  // With its sign; what rounds to nought has none.
  const signed = (text) => (Number(text) === 0 ? text.replace("-", "") : Number(text) > 0 ? `+${text}` : minus(text));

  // Charts.
  const ink = {
    background: null,
    font: "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
    axis: {
      labelColor: "var(--ink)", titleColor: "var(--ink)", domainColor: "var(--faint)", tickColor: "var(--faint)",
      gridColor: "var(--line)", labelFontSize: 11, titleFontSize: 12,
    },
    legend: { labelColor: "var(--ink)", titleColor: "var(--ink)", labelFontSize: 11 },
    header: { labelColor: "var(--ink)", titleColor: "var(--ink)", labelFontSize: 12 },
    title: { color: "var(--ink)", subtitleColor: "var(--faint)" },
    view: { stroke: "var(--line)" },
  };

  const TOO_WIDE = 1.15; // a chart that is a little wider is only shrunk

  async function drawn(place, spec) {
    const inside = make("div");
    place.replaceChildren(inside);
    const { view } = await vegaEmbed(inside, spec, {
      renderer: "svg", actions: false, config: ink, tooltip: { theme: "custom" },
    });
    return { view, width: Number(inside.querySelector("svg").getAttribute("width")) };
  }

  // A chart that is much wider than the page is drawn again, narrow, and once more by what it is still too wide.
  async function fitted(place, spec) {
    const room = place.clientWidth;
    let chart = await drawn(place, spec);
    for (let tries = 0, less = 0; tries < 3 && chart.width > (tries ? 1 : TOO_WIDE) * room; tries++) {
      if (tries) less += chart.width - room;
      chart.view.finalize();
      chart = await drawn(place, narrowed(spec, room, less));
    }
    return chart.view;
  }

  async function drawCharts() {
    const specs = await block("specs");
    for (const place of document.querySelectorAll(".chart")) {
      const view = await fitted(place, specs[place.dataset.spec]);
      const fields = place.dataset.picks.split(" ").filter(Boolean);
      if (fields.length) {
        view.addEventListener("click", (event, item) => {
          if (item?.datum) tables.get(place.dataset.items)?.pick(fields, item.datum);
        });
      }
      await new Promise(requestAnimationFrame);
    }
  }

  // Items: a table to sort, search and filter, and the inspector of the one opened.
  const tables = new Map();
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  class Items {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.folder = root.dataset.beside;
      this.all = data.columns;
      this.columns = data.columns.filter((c) => c.kind !== "hidden");
      this.leftOut = new Map(Object.entries(data.left_out).map(([model, rows]) => [model, new Set(rows)]));
      this.size = 25;
      this.page = 0;
      this.sort = null;
      this.down = false;
      this.filters = new Map();
      this.only = null;
      this.build();
      this.update();
    }

    width(column) {
      const longest = (column.longest ??= Math.max(...column.values.map((_, row) => String(this.text(column, row) ?? "").length)));
      return longest > 100 ? " long" : longest > 24 ? " wide" : "";
    }

    text(column, row) {
      return column.levels ? column.levels[column.values[row]] : column.values[row];
    }

    haystack(row) {
      this.searchable ??= [];
      return (this.searchable[row] ??= plain(
        this.all.filter((c) => ["id", "text", "hidden"].includes(c.kind)).map((c) => c.values[row] ?? "").join("\n"),
      ));
    }

    build() {
      const name = (column) => (column.model ? `${column.title}, ${column.model}` : column.title);
      const labelled = (text, control) => {
        control.id = `${this.root.id}-control-${controls.children.length}`;
        controls.append(make("div", {}, make("label", { for: control.id }, text), control));
      };
      const controls = make("div", { class: "controls" });
      this.search = make("input", { type: "search", oninput: () => this.later() });
      labelled("search", this.search);
      for (const column of this.columns) {
        if (column.kind !== "label" || column.levels.length < 2) continue;
        const select = make("select", { onchange: () => this.filter(column, select.value) }, make("option", { value: "" }, "all"));
        const order = [...column.levels.keys()].sort((a, b) => collator.compare(column.levels[a], column.levels[b]));
        select.append(...order.map((i) => make("option", { value: i }, column.levels[i])));
        column.select = select;
        labelled(name(column), select);
      }
      controls.append(make("button", { type: "button", onclick: () => this.clear() }, "show all"));
      this.count = make("p", { class: "note", role: "status" });
      const models = [];
      for (const column of this.columns) {
        const last = models.at(-1);
        if (last && last.model === column.model) last.span += 1;
        else models.push({ model: column.model, span: 1 });
      }
      const first = (i) => i > 0 && this.columns[i].model !== this.columns[i - 1].model;
      this.first = this.columns.map((_, i) => first(i));
      const head = make("thead", { role: "rowgroup" });
      if (models.length > 1) {
        head.append(make("tr", { role: "row" }, ...models.map((m) =>
          m.model
            ? make("th", { role: "columnheader", colspan: m.span, scope: "colgroup", class: "model first" }, m.model)
            : make("td", { role: "cell", colspan: m.span }))));
      }
      this.heads = this.columns.map((column, i) =>
        make("th", { scope: "col", role: "columnheader", "data-model": column.model || undefined, class: (column.kind === "number" ? "num" : "") + (this.first[i] ? " first" : "") },
          make("button", { type: "button", onclick: () => this.sortBy(i), "aria-label": `sort by ${name(column)}` }, column.title)));
      head.append(make("tr", { role: "row" }, ...this.heads));
      this.body = make("tbody", { role: "rowgroup" });
      this.labels = this.columns.map(name);
      const caption = make("caption", {}, `${this.data.noun}, ${this.size} at a time; open one to see its ${this.data.legend ? "tokens" : "remarks"}`);
      this.back = make("button", { type: "button", onclick: () => this.turn(-1) }, "back");
      this.on = make("button", { type: "button", onclick: () => this.turn(1) }, "on");
      this.where = make("span", { class: "faint" });
      const region = { class: "scroll", role: "region", tabindex: "0", "aria-label": `table of ${this.data.noun}` };
      this.root.append(controls, this.count, make("div", region, make("table", { role: "table" }, caption, head, this.body)),
        make("div", { class: "pager" }, this.back, this.where, this.on));
    }

    later() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.restart(), 150);
    }

    restart() {
      this.page = 0;
      this.update();
    }

    filter(column, value) {
      if (value === "") this.filters.delete(column);
      else this.filters.set(column, Number(value));
      this.restart();
    }

    clear() {
      this.only = null;
      this.search.value = "";
      for (const column of this.filters.keys()) column.select.value = "";
      this.filters.clear();
      this.restart();
    }

    sortBy(i) {
      this.down = this.sort === i ? !this.down : false;
      this.sort = i;
      this.restart();
    }

    turn(step) {
      this.page += step;
      this.update();
      if (this.on.disabled && step > 0) this.back.focus(); // a disabled button would drop the focus
      if (this.back.disabled && step < 0) this.on.focus();
    }

    // What a click on a chart chose: levels of labels (of the mark's model, where a label is about one), or one item.
    pick(fields, datum) {
      const chosen = [];
      for (const field of fields) {
        const value = datum[field];
        if (value === undefined || value === null) continue;
        const column = this.columns.find((c) => [c.field, c.title].includes(field) && (!c.model || c.model === datum.model));
        if (column) chosen.push([column, String(value)]);
      }
      if (!chosen.length) return;
      this.clear();
      for (const [column, value] of chosen) {
        if (column.kind === "label") {
          const exact = column.levels.indexOf(value);
          const level = exact < 0 ? column.levels.findIndex((each) => bare(each) === bare(value)) : exact;
          if (level < 0 || !column.select) continue;
          column.select.value = String(level);
          this.filters.set(column, level);
        } else {
          this.only = value;
        }
      }
      this.restart();
      document.getElementById(`${this.root.id}-title`).scrollIntoView();
    }

    rows() {
      const words = plain(this.search.value.trim());
      const filters = [...this.filters];
      const id = this.only === null ? null : this.columns.find((c) => c.kind === "id");
      const kept = [];
      for (let row = 0; row < this.data.n; row++) {
        if (id && bare(id.values[row]) !== bare(this.only)) continue;
        if (filters.every(([c, level]) => c.values[row] === level) && (!words || this.haystack(row).includes(words))) kept.push(row);
      }
      if (this.sort !== null) {
        const column = this.columns[this.sort];
        const rank = column.levels && column.levels.map((_, i) => i).sort((a, b) => collator.compare(column.levels[a], column.levels[b]));
        const place = rank && rank.reduce((found, level, i) => ((found[level] = i), found), []);
        const key = (row) => (place ? (place[column.values[row]] ?? null) : column.values[row]);
        const by = column.kind === "number" || place ? (a, b) => a - b : (a, b) => collator.compare(a, b);
        const sign = this.down ? -1 : 1;
        kept.sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === null || y === null) return (x === null) - (y === null) || a - b; // missing ones last, either way
          return sign * by(x, y) || a - b;
        });
      }
      return kept;
    }

    update() {
      const rows = this.rows();
      const pages = Math.max(1, Math.ceil(rows.length / this.size));
      this.page = Math.min(this.page, pages - 1);
      this.count.textContent = `${rows.length.toLocaleString("en")} of ${this.data.n.toLocaleString("en")} ${this.data.n === 1 ? this.data.one : this.data.noun}`;
      this.where.textContent = `page ${this.page + 1} of ${pages.toLocaleString("en")}`;
      this.back.disabled = this.page === 0;
      this.on.disabled = this.page === pages - 1;
      this.heads.forEach((head, i) => {
        if (i === this.sort) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      this.body.replaceChildren(...rows.slice(this.page * this.size, (this.page + 1) * this.size).map((row) => this.row(row)));
    }

    row(row) {
      const line = make("tr", { role: "row" });
      this.columns.forEach((column, i) => {
        const cell = { role: "cell", "data-label": this.labels[i] }; // shown on a narrow screen, where heads are not
        const edge = this.first[i] ? " first" : "";
        if (column.model && this.leftOut.get(column.model)?.has(row)) {
          line.append(make("td", { ...cell, class: "faint" + edge }, "left out"));
        } else if (column.kind === "number") {
          line.append(make("td", { ...cell, class: (column.values[row] === null ? "num missing" : "num") + edge }, shownNumber(column.values[row], column)));
        } else if (column.kind === "id") {
          const button = make("button", { type: "button", class: "open", "aria-expanded": "false" }, this.text(column, row));
          button.addEventListener("click", () => this.inspect(row, line, button));
          line.append(make("td", { ...cell, dir: "auto" }, button));
        } else {
          line.append(make("td", { ...cell, class: column.kind + edge + this.width(column), dir: "auto" }, this.text(column, row) ?? ""));
        }
      });
      return line;
    }

    async inspect(row, line, button) {
      const shut = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!shut));
      if (shut) {
        line.nextSibling.remove();
        return;
      }
      const place = make("div", { class: "inspector" }, "…");
      line.after(make("tr", { role: "row" }, make("td", { role: "cell", colspan: this.columns.length }, place)));
      try {
        const part = Math.floor(row / this.data.chunk);
        const detail = await block(`${this.data.details}-${part}`, this.folder);
        const text = this.columns.find((c) => c.kind === "text");
        const direction = text && isRtl(text.values[row]) ? "rtl" : "ltr";
        place.replaceChildren(...inspector(this.data, detail, row - part * this.data.chunk, direction));
        for (const region of place.querySelectorAll(".scroll")) {
          const spot = region.querySelector(".differs");
          if (spot && region.scrollWidth > region.clientWidth) {
            const from = direction === "rtl" ? spot.offsetLeft + spot.offsetWidth - region.scrollWidth + 260 : spot.offsetLeft - 260;
            region.scrollLeft = direction === "rtl" ? Math.min(0, from) : Math.max(0, from);
          }
        }
      } catch (error) {
        place.textContent = error.message;
      }
    }
  }

  function inspector(data, detail, row, direction) {
    const nodes = [];
    const models = [...new Set([...detail.strips.map((s) => s.model), ...Object.keys(detail.remarks)])];
    for (const model of models) {
      const strips = detail.strips.filter((s) => s.model === model);
      const remark = detail.remarks[model] ? detail.remarks[model][row] : "";
      nodes.push(make("h4", {}, model), make("p", {}, remark ?? `The cautions say what ${model} has left out.`));
      if (remark === null || !strips.length) continue;
      const region = { class: "scroll", dir: direction, role: "region", tabindex: "0", "aria-label": `tokens, ${model}` };
      nodes.push(make("div", region, tokens(data, strips, row, direction)));
    }
    nodes.push(make("p", { class: "faint" }, data.legend));
    return nodes;
  }

  // Tokens in columns. Two texts that differ in one place are laid so that what they share stands in the same columns;
  // a last row then says what each column adds to the difference of their scores.
  function tokens(data, strips, row, direction) {
    const lists = strips.map((s) => s.tokens[row]);
    const values = strips.map((s) => s.values[row]);
    const marks = strips.map((s) => (s.marks ? s.marks[row] : null));
    const table = make("table", { dir: direction });
    const parallel = data.parallel && strips.length === 2;
    const width = Math.max(...lists.map((l) => l.length));
    let before = 0;
    let after = 0;
    if (parallel) {
      const [a, b] = lists;
      while (before < Math.min(a.length, b.length) && a[before] === b[before]) before++;
      while (after < Math.min(a.length, b.length) - before && a[a.length - 1 - after] === b[b.length - 1 - after]) after++;
    }
    const middle = width - before - after;
    strips.forEach((strip, i) => {
      const line = make("tr", {}, make("th", { scope: "row" }, strip.title, make("br"), strip.notes[row]));
      const own = lists[i].length - before - after;
      lists[i].forEach((token, j) => {
        line.append(tokenCell(token, values[i][j], marks[i]?.[j], parallel && j >= before && j < before + own));
        const gap = middle - own;
        if (parallel && own > 0 && gap > 0 && j === before + own - 1) line.append(make("td", { class: "none", colspan: gap }));
      });
      if (parallel && own === 0 && middle > 0) {
        const empty = make("td", { class: "none", colspan: middle });
        line.insertBefore(empty, line.children[before + 1] ?? null);
      }
      table.append(line);
    });
    if (parallel && data.sums) table.append(difference(values, before, middle, after));
    return table;
  }

  function tokenCell(token, value, mark, differs) {
    const cell = make("td", { class: differs ? "differs" : "" },
      make("bdi", { class: "token" }, token), make("span", { class: "value", dir: "ltr" }, value === null ? "·" : minus(value.toFixed(3))));
    if (mark !== undefined && mark !== null) cell.style.background = `rgba(var(--${mark < 0 ? "low" : "high"}), ${0.45 * Math.abs(mark)})`;
    else if (mark === undefined && value !== null && value < 0) cell.style.background = `rgba(var(--low), ${Math.min(0.5, -value / 30)})`;
    return cell;
  }

  function difference([a, b], before, middle, after) {
    const sum = (list) => list.reduce((total, value) => total + (value ?? 0), 0);
    const parts = [];
    for (let j = 0; j < before; j++) parts.push([1, (a[j] ?? 0) - (b[j] ?? 0)]);
    if (middle > 0) parts.push([middle, sum(a.slice(before, a.length - after)) - sum(b.slice(before, b.length - after))]);
    for (let j = after; j > 0; j--) parts.push([1, (a[a.length - j] ?? 0) - (b[b.length - j] ?? 0)]);
    const line = make("tr", {}, make("th", { scope: "row" }, "difference of", make("br"), "log-probabilities"));
    for (const [span, value] of parts) {
      const cell = make("td", { colspan: span, class: "value", dir: "ltr" }, signed(value.toFixed(3)));
      cell.style.background = `rgba(var(--${value < 0 ? "low" : "high"}), ${Math.min(0.5, Math.abs(value) / 10)})`;
      line.append(cell);
    }
    return line;
  }

  async function fillItems() {
    for (const root of document.querySelectorAll(".items")) {
      tables.set(root.id, new Items(root, await block(`${root.id}-table`)));
    }
  }

  // Signatures and BibTeX to the clipboard; a page opened from a disk may have to do it the old way.
  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { style: "position:fixed;opacity:0" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  let signatures = [];
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const { copies, signature } = button.dataset;
    await copied(copies ? document.getElementById(copies).textContent : signatures[Number(signature)]);
    say("copied");
    const was = button.textContent;
    button.textContent = "copied";
    setTimeout(() => (button.textContent = was), 1200);
  });

  function unfold() {
    const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target?.scrollIntoView();
  }
  addEventListener("hashchange", unfold);

  async function start() {
    signatures = await block("signatures");
    await fillItems();
    await drawCharts();
    unfold();
    document.documentElement.dataset.ready = "yes";
  }
  start().catch((error) => {
    document.querySelector("main").prepend(make("p", { class: "cautions" }, `This browser cannot show the charts and items: ${error.message}`));
    throw error;
  });
})();
