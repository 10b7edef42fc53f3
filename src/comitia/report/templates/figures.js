"use strict";
// The figures, drawn with Plotly from the numbers in the page. Plotly takes its time to start, so it does once the
// page can be read.

const data = JSON.parse(document.getElementById("numbers").textContent);
const ALL = "";
const choice = {
  ensemble: document.getElementById("choose-ensemble"),
  loss: document.getElementById("choose-loss"),
  dataset: document.getElementById("choose-dataset"),
};
// Plotly reads a little HTML in its texts: names are to appear as they are.
const plain = text => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const narrowWindow = matchMedia("(max-width: 640px)");
const narrow = () => narrowWindow.matches;
const short = (text, length = narrow() ? 13 : 24) => text.length > length ? text.slice(0, length - 1) + "…" : text;
const css = name => getComputedStyle(root).getPropertyValue(name).trim();
const methodNamed = name => data.methods.find(method => method.name === name);
const measureOf = loss => data.measures.find(measure => measure.loss === loss);
const blockOf = (ensemble, loss) => data.blocks.find(block => block.ensemble === ensemble && block.loss === loss);
const titleOf = ensemble => data.ensembles.find(entry => entry.name === ensemble).title;
const axisTitle = measure => `${plain(measure.title)}${measure.unit && " (%)"}, ${measure.higher ? "higher" : "lower"} is better`;
const column = (table, index) => table.map(row => row[index]);
const twins = block => Object.entries(block.same).map(([name, twin]) => ` ${methodNamed(name).title} equals ${methodNamed(twin).title} in every fold.`).join("");
const mean = numbers => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
let printing = false;

function fill(select, options) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  select.closest("label").hidden = options.length < 2;
}
fill(choice.ensemble, data.ensembles.map(entry => [entry.name, entry.title]));
fill(choice.loss, data.measures.map(measure => [measure.loss, measure.title]));
fill(choice.dataset, data.datasets.length > 1 ? [[ALL, "all datasets"], ...data.datasets.map(name => [name, name])] : data.datasets.map(name => [name, name]));

const colourOf = method => method.colour === "#000000" ? css("--ink") : method.colour;
function look(method, size = 9) {
  const colour = colourOf(method);
  return {
    name: plain(method.title),
    legendgroup: method.name,
    marker: { color: colour, symbol: method.symbol, size, line: { color: colour, width: 1 } },
    line: { color: colour, dash: method.dash, width: 2 },
  };
}

const roomForLegend = changes => narrow() && changes.showlegend !== false ? 90 : 0;
function layout(changes) {
  const axis = { gridcolor: css("--line"), linecolor: css("--muted"), zeroline: false, automargin: true, ticks: "outside", tickcolor: css("--line"), title: { standoff: 12, font: { size: 13 } } };
  const { xaxis = {}, yaxis = {}, height = 420, ...rest } = changes;
  return {
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: css("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 60, r: 20, t: 16, b: 50 },
    legend: narrow() ? { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 } : { x: 1.01, y: 1, xanchor: "left", yanchor: "top" },
    hoverlabel: { font: { size: 13 }, align: "left" },
    ...rest,
    height: height + roomForLegend(changes),
    xaxis: { ...axis, ...xaxis, title: { ...axis.title, ...xaxis.title } },
    yaxis: { ...axis, ...yaxis, title: { ...axis.title, ...yaxis.title } },
  };
}

function draw(name, caption, traces, changes) {
  const figure = document.getElementById(`figure-${name}`);
  if (!figure) return;
  figure.hidden = traces.length === 0;
  figure.querySelector("figcaption").textContent = caption;
  const plot = figure.querySelector(".plot");
  if (figure.hidden) return;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-label", caption);
  plot.style.minHeight = `${(changes.height || 420) + roomForLegend(changes)}px`;
  const settings = { responsive: true, displaylogo: false, displayModeBar: printing ? false : "hover", modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"] };
  Plotly.react(plot, traces, layout({ uirevision: name, ...changes }), settings);
}

// Mean and standard error of each aggregation: side by side over the datasets, or with the folds of one.
function drawValues(ensemble, loss, dataset) {
  const block = blockOf(ensemble, loss);
  if (!block) return draw("values", "", [], {});
  const measure = measureOf(loss);
  const who = titleOf(ensemble) + (block.size > 1 ? ` with ${block.size} members` : "");
  if (dataset === ALL) {
    // Side by side by hand: Plotly's own grouping would start the axis at zero.
    const beside = index => (index - (block.methods.length - 1) / 2) * 0.7 / block.methods.length;
    const traces = block.methods.map((name, index) => ({
      type: "scatter", mode: "markers", ...look(methodNamed(name)), x: block.datasets.map((_, row) => row + beside(index)), y: column(block.values, index),
      error_y: { type: "data", array: column(block.errors, index), thickness: 1, width: 2 },
      customdata: block.datasets.map((dataset, row) => [plain(dataset), block.ranks[row][index], block.errors[row][index]]),
      hovertemplate: `%{customdata[0]}<br>%{y:.2f} ± %{customdata[2]:.2f}${measure.unit}<br>rank %{customdata[1]}`,
    }));
    return draw("values", `${measure.title} of ${who} on each dataset; bars are one standard error over the folds.${twins(block)}`, traces,
      { xaxis: { range: [-0.5, block.datasets.length - 0.5], tickvals: block.datasets.map((_, row) => row), ticktext: block.datasets.map(name => plain(short(name))), showgrid: false }, yaxis: { title: { text: axisTitle(measure) } } });
  }
  const row = block.datasets.indexOf(dataset);
  if (row < 0) return draw("values", "", [], {});
  const shown = block.methods.map((name, index) => [methodNamed(name), index]).filter(([, index]) => block.values[row][index] !== null);
  const traces = shown.flatMap(([method, index]) => {
    const style = look(method, 11), title = plain(method.title);
    const folds = column(block.folds[row], index);
    return [
      { type: "scatter", mode: "markers", ...style, x: [block.values[row][index]], y: [title],
        error_x: { type: "data", array: [block.errors[row][index]], thickness: 1.5, width: 4 },
        customdata: [[block.errors[row][index], block.ranks[row][index]]],
        hovertemplate: `mean %{x:.2f} ± %{customdata[0]:.2f}${measure.unit}<br>rank %{customdata[1]}` },
      { type: "scatter", mode: "markers", ...style, x: folds, y: folds.map(() => title), showlegend: false,
        marker: { ...style.marker, size: 5, symbol: "circle-open", opacity: 0.7 }, hovertemplate: `a fold: %{x:.2f}${measure.unit}` },
    ];
  });
  draw("values", `${measure.title} of ${who} on ${dataset}: mean and standard error, and each fold as a circle.${twins(block)}`, traces, {
    height: 130 + 38 * shown.length, xaxis: { title: { text: axisTitle(measure) } },
    yaxis: { type: "category", range: [shown.length - 0.5, -0.5] } });
}

// Average ranks, and how far from the best one a rank can be without a significant difference.
function drawRanks(ensemble, loss) {
  const block = blockOf(ensemble, loss);
  if (!block || block.criticalDistance === null) return draw("ranks", "", [], {});
  const order = block.methods.map((name, index) => index).sort((a, b) => block.averageRanks[a] - block.averageRanks[b]);
  const best = block.averageRanks[order[0]];
  const traces = order.map(index => {
    const method = methodNamed(block.methods[index]);
    return { type: "scatter", mode: "markers", ...look(method, 11), x: [block.averageRanks[index]], y: [plain(method.title)], hovertemplate: "average rank %{x:.2f}" };
  });
  // As the answer's text: without a difference by Friedman's test, Nemenyi's is not asked and all are in the band.
  const band = block.differ ? best + block.criticalDistance : block.methods.length;
  const verdict = block.differ ? `Those in the band do not differ significantly from the best (Nemenyi, α = 0.05, critical distance ${block.criticalDistance.toFixed(2)}).`
    : `They do not differ significantly (Friedman, p = ${block.friedman.toPrecision(2)}).`;
  draw("ranks", `Average ranks of ${titleOf(ensemble)}'s aggregations under ${measureOf(loss).title} over ${block.ranked} datasets. ${verdict}`, traces, {
    height: 130 + 34 * order.length, showlegend: true,
    xaxis: { title: { text: "Average rank, 1 is best" }, range: [0.8, block.methods.length + 0.2], dtick: 1 },
    yaxis: { type: "category", range: [order.length - 0.5, -0.5] },
    shapes: [{ type: "rect", xref: "x", yref: "paper", x0: best, x1: band, y0: 0, y1: 1, fillcolor: css("--muted"), opacity: 0.15, line: { width: 0 }, layer: "below" }] });
}

// What each aggregation loses against the best one under each loss.
function drawRegret(ensemble, dataset) {
  const losses = data.measures.filter(measure => blockOf(ensemble, measure.loss));
  const names = data.methods.map(method => method.name);
  const cell = (name, loss) => {
    const block = blockOf(ensemble, loss);
    const index = block.methods.indexOf(block.same[name] ?? name);
    const rows = dataset === ALL ? block.datasets.map((_, row) => row) : [block.datasets.indexOf(dataset)];
    const points = index < 0 ? [] : rows.filter(row => row >= 0).map(row => block.regret[row][index]).filter(value => value !== null);
    return points.length ? mean(points) : null;
  };
  const z = names.map(name => losses.map(measure => cell(name, measure.loss)));
  const where = dataset === ALL && data.datasets.length > 1 ? "on average over the datasets" : `on ${dataset === ALL ? data.datasets[0] : dataset}`;
  // Columns are coloured each by its own worst, for losses differ in scale.
  const share = z.map(line => line.map((value, j) => value === null ? null : value / (Math.max(...column(z, j)) || 1)));
  draw("regret", `What the wrong aggregation costs ${titleOf(ensemble)}: points lost against the best, ${where}. Colours compare within a column.`,
    [{ type: "heatmap", x: losses.map(measure => plain(measure.title)), y: data.methods.map(method => plain(method.title)), z: share,
      text: z.map(line => line.map(value => value === null ? "–" : value.toFixed(2))), texttemplate: "%{text}", textfont: { color: css("--ink") }, hovertemplate: "%{y}, %{x}<br>%{text} points lost<extra></extra>",
      colorscale: isDark() && !printing ? [[0, "#1d2127"], [1, "#b5541c"]] : [[0, "#fffaf5"], [1, "#e8894a"]], zmin: 0, zmax: 1, showscale: false, xgap: 2, ygap: 2 }],
    { height: 110 + 34 * names.length, showlegend: false, xaxis: { side: "top", showgrid: false, showline: false, ticks: "" }, yaxis: { autorange: "reversed", showgrid: false, showline: false, tickcolor: "rgba(0,0,0,0)" }, margin: { l: 60, r: 20, t: 40, b: 16 } });
}

// Means over ensemble sizes, with the paper's where there are any.
function drawSizes(ensemble, loss, dataset) {
  const name = dataset === ALL ? data.datasets[0] : dataset;
  const curves = data.curves.filter(curve => curve.ensemble === ensemble && curve.loss === loss && curve.dataset === name);
  const measure = measureOf(loss);
  // Unbroken lines go below broken ones, so that aggregations that agree are both seen.
  const isSolid = curve => methodNamed(curve.method).dash === "solid";
  const layered = [...curves.filter(isSolid), ...curves.filter(curve => !isSolid(curve))];
  const traces = layered.flatMap(curve => {
    const style = { ...look(methodNamed(curve.method), 7), legendrank: 1000 + curves.indexOf(curve) };
    const own = { type: "scatter", mode: "lines+markers", ...style, x: curve.sizes, y: curve.means, customdata: curve.errors, hovertemplate: `%{x} members: %{y:.2f} ± %{customdata:.2f}${measure.unit}` };
    if (!curve.paper || !curve.paper.sizes.length) return [own];
    return [own, { type: "scatter", mode: "lines", ...style, line: { ...style.line, width: 0.8 }, x: curve.paper.sizes, y: curve.paper.means, showlegend: false, hovertemplate: `the paper, %{x} members: %{y:.2f}${measure.unit}` }];
  });
  const thin = traces.length > curves.length ? " Thin lines are the paper's." : "";
  draw("sizes", `${measure.title} of ${titleOf(ensemble)} on ${name} against the number of members.${thin}${dataset === ALL && data.datasets.length > 1 ? " Choose a dataset to see another." : ""}`, traces,
    { xaxis: { title: { text: "Ensemble size (members)" }, rangemode: "tozero" }, yaxis: { title: { text: axisTitle(measure) } } });
}

function drawLabels(dataset) {
  const name = dataset === ALL ? data.datasets.find(one => one in data.labels) : dataset;
  const labels = data.labels[name];
  if (!labels || !labels.names.length) return draw("labels", "", [], {});
  const order = labels.names.map((_, index) => index).sort((a, b) => labels.frequencies[b] - labels.frequencies[a]);
  const many = order.length > 40;
  draw("labels", `How often each of the ${order.length} labels of ${name} occurs.`, [{
    type: "bar", x: order.map(index => index), y: order.map(index => 100 * labels.frequencies[index]), marker: { color: css("--accent") },
    customdata: order.map(index => plain(labels.names[index])), hovertemplate: "%{customdata}<br>%{y:.1f} % of instances<extra></extra>" }],
    { height: many ? 340 : 400, bargap: many ? 0.05 : 0.2, showlegend: false, uirevision: name,
      xaxis: { type: "category", title: { text: "Label, from the most frequent" }, showgrid: false, showticklabels: !many, ticks: many ? "" : "outside", tickangle: order.length > 8 || narrow() ? -45 : 0,
        tickvals: order, ticktext: order.map(index => plain(short(labels.names[index]))) },
      yaxis: { title: { text: "Share of instances (%)" } } });
}

function drawAll() {
  const [ensemble, loss, dataset] = [choice.ensemble.value, choice.loss.value, choice.dataset.value];
  drawValues(ensemble, loss, dataset);
  drawRanks(ensemble, loss);
  drawRegret(ensemble, dataset);
  drawSizes(ensemble, loss, dataset);
  drawLabels(dataset);
}

async function unpacked(element) {
  const bytes = Uint8Array.from(atob(element.textContent), sign => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function start() {
  const library = document.createElement("script");
  library.textContent = await unpacked(document.getElementById("plotly"));
  document.head.append(library);
  drawAll();
  for (const select of Object.values(choice)) select.addEventListener("change", drawAll);
  document.addEventListener("themechange", drawAll);
  narrowWindow.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => { printing = true; drawAll(); });
  addEventListener("afterprint", () => { printing = false; drawAll(); });
  root.dataset.figures = "drawn";
}
addEventListener("load", () => window.requestIdleCallback ? requestIdleCallback(start, { timeout: 500 }) : setTimeout(start, 50));
