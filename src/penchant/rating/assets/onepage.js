"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const kept = `penchant-${data.task}-${data.n}`;
  let said = [];
  try { said = JSON.parse(localStorage.getItem(kept)) || []; } catch { said = []; }
  const place = document.getElementById("item");
  let shown = 0;
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const keep = () => {
    try { localStorage.setItem(kept, JSON.stringify(said)); } catch { state("This browser does not keep your answers: save often."); }
  };
  const state = (text) => { document.getElementById("state").textContent = text; };
  const next = () => { const done = new Set(said.map((one) => one.position)); let n = 1; while (done.has(n)) { n += 1; } return n; };
  const say = (position, answer, skipped) => {
    const comment = document.getElementById("words")?.value.trim() || "";
    said.push({ position, answer, skipped, comment, seconds: (Date.now() - shown) / 1000 });
    keep();
    state("");
    const item = data.items[position - 1];
    if (item.practice && item.right !== null && answer !== null) { feedback(item, answer); }
    else if (data.breaks && said.length % data.breaks === 0 && said.length < data.items.length) { rest(); }
    else { show(); }
  };
  const undo = () => { if (said.length) { said.pop(); keep(); show(); } };
  const label = (item, number) => data.kind === "choice" ? [item.parts.join(""), item.other][number]
    : `${data.answers[number]}${data.labels[number] ? ` (${data.labels[number]})` : ""}`;
  const goOn = () => {
    const button = element("button", { className: "go", type: "button", id: "go", textContent: "Continue", onclick: show });
    place.append(element("p", {}, button));
    button.focus();
  };
  const feedback = (item, answer) => {
    const right = answer === item.right;
    place.replaceChildren(element("h1", { textContent: right ? "As expected" : "Not as expected" }),
      element("p", { textContent: `You answered: ${label(item, answer)}` }));
    if (!right) { place.append(element("p", { textContent: `Expected answer: ${label(item, item.right)}` })); }
    if (item.why) { place.append(element("p", { textContent: item.why })); }
    goOn();
  };
  const rest = () => {
    place.replaceChildren(element("h1", { textContent: "Time for a break" }),
      element("p", { textContent: `${said.length} of ${data.items.length} done. This is a good moment to save.` }));
    goOn();
  };
  const texts = (item) => {
    const both = [[0, item.parts.join("")], [1, item.other]];
    return item.turned ? both.reverse() : both;
  };
  const buttons = (item, position) => {
    const group = element("div", { className: data.kind === "choice" ? "choice" : "points" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-labelledby", "asked");
    const one = (number, className, ...children) => group.append(
      element("button", { type: "button", className, onclick: () => say(position, number, "") }, ...children));
    if (data.kind === "choice") {
      for (const [number, text] of texts(item)) { one(number, "side", element("bdi", { lang: data.language, dir: data.direction, textContent: text })); }
    } else {
      data.labels.forEach((text, number) => one(number, "point", element("span", { className: "number", textContent: number + 1 }), ...(text ? [element("bdi", { className: "label", textContent: text })] : [])));
    }
    return group;
  };
  const show = () => {
    const position = next();
    document.getElementById("start").hidden = true;
    place.hidden = false;
    document.getElementById("saving").hidden = false;
    if (position > data.items.length) {
      place.replaceChildren(element("h1", { textContent: "Thank you" }), element("p", { textContent: "You have answered everything. Now save your answers and send the file back." }), back());
      return;
    }
    const item = data.items[position - 1];
    const done = said.length;
    const progress = element("progress", { max: data.items.length, value: done });
    progress.setAttribute("aria-label", "done");
    place.replaceChildren(
      element("p", { className: "where" }, `${done} of ${data.items.length} done`, ...(item.practice ? [element("strong", { textContent: "Practice" })] : [])),
      progress,
      element("p", { className: "asked", id: "asked" }, element("bdi", { textContent: data.question })));
    if (data.kind === "scale") {
      const [before, word, after] = item.parts;
      place.append(element("p", { className: "sentence", lang: data.language, dir: data.direction }, before, ...(word ? [element("mark", { textContent: word })] : []), after));
    }
    const comment = element("details", { id: "comment" }, element("summary", { textContent: "Comment" }),
      element("label", { htmlFor: "words", textContent: "A comment on this item, kept with your answer" }),
      element("textarea", { id: "words", maxLength: 2000, rows: 3, dir: "auto" }));
    const skip = element("details", { id: "skip" }, element("summary", { textContent: "Skip this item" }),
      ...data.reasons.map((reason) => element("p", {}, element("button", { type: "button", textContent: reason, onclick: () => say(position, null, reason) }))));
    place.append(buttons(item, position), comment, skip);
    if (said.length) { place.append(back()); }
    shown = Date.now();
  };
  const back = () => element("p", {}, element("button", { type: "button", className: "plain", id: "undo", textContent: "Undo the last answer", onclick: undo }));
  const rows = () => {
    const counted = [...said].sort((a, b) => a.position - b.position).filter((one) => one.answer !== null && data.items[one.position - 1].counts)
      .map((one) => ({ key: data.items[one.position - 1].key, value: data.answers[one.answer] }));
    if (data.layout === "wide") {
      return counted.length ? [Object.fromEntries([["rater", data.rater], ...counted.map(({ key, value }) => [key.id, value])])] : [];
    }
    if (data.layout !== "sides") { return counted.map(({ key, value }) => ({ ...key, rater: data.rater, [data.value]: value })); }
    const pairs = new Map();
    for (const { key, value } of counted) {
      const { side, ...rest } = key;
      const name = JSON.stringify(rest);
      if (!pairs.has(name)) { pairs.set(name, { ...rest, rater: data.rater, [`${data.value}_good`]: null, [`${data.value}_bad`]: null }); }
      pairs.get(name)[`${data.value}_${side}`] = value;
    }
    return [...pairs.values()];
  };
  document.getElementById("save").onclick = () => {
    const table = rows();
    if (!table.length) { state("There is nothing to save yet."); return; }
    table[0]["penchant journal"] = { n: data.n, task: data.task, sign: data.sign, said };
    const link = element("a", { href: URL.createObjectURL(new Blob([JSON.stringify(table, null, 1)], { type: "application/json" })), download: `${data.rater}.json` });
    link.click();
    state(`Saved ${said.length} of ${data.items.length} as ${data.rater}.json.`);
  };
  const begin = document.getElementById("begin");
  begin.onclick = show;
  if (said.length) { begin.textContent = `Continue: ${said.length} of ${data.items.length} done`; }
  document.addEventListener("keydown", (event) => {
    const active = document.activeElement;
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) { return; }
    if (["TEXTAREA", "INPUT"].includes(active?.tagName)) { if (event.key === "Escape") { active.blur(); } return; }
    const answers = [...place.querySelectorAll(".points button, .choice button")];
    const open = (id, field) => { const box = document.getElementById(id); if (box) { event.preventDefault(); box.open = true; box.querySelector(field)?.focus(); } };
    if (data.kind === "choice" && event.key === "ArrowLeft") { answers[0]?.click(); }
    else if (data.kind === "choice" && event.key === "ArrowRight") { answers[1]?.click(); }
    else if (data.kind === "scale" && /^[1-9]$/.test(event.key)) { answers[Number(event.key) - 1]?.click(); }
    else if (event.key === "u") { document.getElementById("undo")?.click(); }
    else if (event.key === "c") { open("comment", "textarea"); }
    else if (event.key === "s") { open("skip", "button"); }
  });
})();
