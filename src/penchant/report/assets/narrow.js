"use strict";
// A chart for a narrow page: panels below each other, legends and the names of rows above, long titles on several lines.
// The page draws it, measures it, and asks again with what is too much, so that it needs no scrolling sideways.
const narrowed = (() => {
  const LETTER = 6.5; // pixels of a letter, on average
  const WIDE = 650; // pixels of a wide page's chart
  const LEAST = 120; // pixels of a panel without its labels

  function lines(text, width) {
    if (typeof text !== "string" || text.length * LETTER <= width) return text;
    const shown = [""];
    for (const word of text.split(/(?<=[-/@_:, ])/)) {
      if (shown.at(-1) && (shown.at(-1) + word).trim().length * LETTER > width) shown.push("");
      shown[shown.length - 1] += word;
    }
    return shown.map((line) => line.trim());
  }

  // Titles in all the forms that they have: a text, its lines, or an object with both a text and a subtitle.
  function title(value, width) {
    if (typeof value === "string") return lines(value, width);
    if (Array.isArray(value)) return value.flatMap((line) => lines(line, width));
    if (value && typeof value === "object") {
      const { text, subtitle } = value;
      return { ...value, ...(text && { text: title(text, width) }), ...(subtitle && { subtitle: title(subtitle, width) }) };
    }
    return value;
  }

  function part(value, key, width, less) {
    if (Array.isArray(value)) return value.map((each) => part(each, key, width, less));
    if (value === null || typeof value !== "object") {
      if (key === "labelLimit") return Math.min(value, 0.4 * width);
      if (key === "limit") return Math.min(value, 0.95 * width);
      if (key === "padding") return value * Math.min(1, width / WIDE);
      if (key === "width") return Math.max(LEAST, value - less);
      return value;
    }
    const changed = {};
    for (const [name, inner] of Object.entries(value)) {
      if (name === "data" || name === "datasets" || name === "values") changed[name] = inner;
      else if (name === "title") changed.title = title(inner, key === "y" ? Infinity : 0.6 * width);
      else if (name === "hconcat") changed.vconcat = part(inner, "vconcat", width, less);
      else if (name === "columns") changed.columns = 1;
      else if (name === "width" && inner?.step) changed.width = { step: Math.max(32, inner.step * (1 - less / (width + less))) };
      else changed[name] = part(inner, name, width, less);
    }
    if (key === "axis" && changed.labelAngle) Object.assign(changed, { labelAngle: -90, labelLimit: 1.5 * width }); // up, not across
    if (key === "legend" && changed.labelLimit) changed.labelLimit = width - 60;
    if (key === "row") changed.header = { ...changed.header, orient: "top", labelAnchor: "start", labelAlign: "left", labelLimit: width };
    return changed;
  }

  // The chart for `width` pixels, with panels `less` narrower than they were asked for; a spec may bring a narrow one.
  return (spec, width, less) => {
    const legend = { orient: "top", columns: 1, labelLimit: width - 60, gradientLength: 0.6 * width };
    const { config = {}, usermeta = {}, ...chart } = spec;
    return { ...part({ ...chart, ...usermeta.narrow }, "", width, less), config: { ...config, legend: { ...config.legend, ...legend }, axis: { ...config.axis, labelLimit: 0.4 * width } } };
  };
})();
