// What a page does where scripts run: tables are sorted, charts stand in the place of pictures, and
// controls say which methods, which part of the time and which simulated cell are shown.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = (root) => JSON.parse(root.querySelector("script").textContent);

// Tables.

const value = (row, place) => row.cells[place].textContent.trim();
const amount = (text) => parseFloat(text.replace(/[,<]/g, ""));

function compare(one, other) {
  const [a, b] = [amount(one), amount(other)];
  if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b) || one.localeCompare(other);
  return a - b;
}

function sort(table, place) {
  const heads = all("thead th", table);
  const up = heads[place].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[place].setAttribute("aria-sort", up ? "ascending" : "descending");
  const known = (row) => /\d/.test(value(row, place)) || isNaN(amount(value(table.tBodies[0].rows[0], place)));
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => known(b) - known(a) || (up ? 1 : -1) * compare(value(a, place), value(b, place)));
  table.tBodies[0].append(...rows);
}

function makeSortable(table) {
  all("thead th", table).forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, place));
    head.append(button);
  });
}

all("table.sortable").filter((table) => table.tBodies[0].rows.length > 1).forEach(makeSortable);

// Charts.

const charts = [];

async function draw(box) {
  const specification = data(box);
  specification.description = box.dataset.of;
  box.hidden = false;
  const place = box.querySelector("div");
  const options = { actions: false, renderer: "svg", mode: "vega-lite" };
  const { view } = await window.vegaEmbed(place, specification, options);
  const names = Object.keys(view.getState().signals);
  charts.push({ box, view, names, whole: names.includes("finish") ? view.signal("finish") : 0 });
}

async function drawAll(figure) {
  const boxes = all(".chart", figure);
  try {
    await Promise.all(boxes.map(draw));
    figure.querySelector("[data-static]").hidden = true;
  } catch {
    boxes.forEach((box) => (box.hidden = true));
  }
}

const tell = (name, to) =>
  charts
    .filter((chart) => chart.names.includes(name))
    .forEach(({ view }) => view.signal(name, to).runAsync());

function showMethods() {
  const off = all("[data-methods] input").filter((box) => !box.checked).map((box) => box.value);
  tell("off", off);
  charts.forEach(({ box }) => (box.hidden = off.includes(box.dataset.method)));
}

function showTime() {
  const zoom = document.querySelector("[data-zoom]");
  const where = document.querySelector("[data-where]");
  const share = 1 / Number(zoom.value);
  where.disabled = share === 1;
  charts
    .filter((chart) => chart.whole)
    .forEach(({ view, whole }) => {
      const begin = Number(where.value) * (1 - share) * whole;
      view.signal("begin", begin).signal("finish", begin + share * whole).runAsync();
    });
}

function zoomAt({ view, whole }, event) {
  const zoom = document.querySelector("[data-zoom]");
  const where = document.querySelector("[data-where]");
  const [left] = view.origin();
  const across = event.clientX - view.container().getBoundingClientRect().left - left;
  const middle = view.scale("x").invert(across) / whole;
  const next = zoom.selectedIndex + (event.shiftKey ? -1 : 1);
  zoom.selectedIndex = Math.max(0, Math.min(zoom.options.length - 1, next));
  const share = 1 / Number(zoom.value);
  const begin = Math.max(0, Math.min(1 - share, middle - share / 2));
  where.value = share < 1 ? begin / (1 - share) : 0;
  showTime();
}

// Cells of a study.

const choices = all("[data-choice]");
const chosen = () => Object.fromEntries(choices.map((one) => [one.dataset.choice, one.value]));
const fits = (at, now) => Object.entries(at).every(([name, label]) => now[name] === label);

function line(kind, texts) {
  const row = document.createElement("tr");
  texts.forEach((text, place) => {
    const cell = document.createElement(kind === "head" || !place ? "th" : "td");
    if (cell.tagName === "TH") cell.scope = kind === "head" ? "col" : "row";
    cell.textContent = text;
    row.append(cell);
  });
  return row;
}

function showCell() {
  const now = chosen();
  all("[data-map]").forEach((map) => (map.hidden = !fits(data(map), now)));
  all("[data-kind]").forEach((box) => (box.hidden = !["all", box.dataset.kind].includes(now.kind)));
  choices.forEach((one, place) => tell(`choice_${place}`, one.value));
  all("[data-cells]").forEach((box) => {
    const { columns, cells } = data(box);
    const here = cells.filter((cell) => fits(cell.at, now));
    const words = choices
      .filter((one) => one.dataset.choice !== "method")
      .map((one) => `${one.dataset.choice} = ${one.value}`);
    const none = here.length ? "" : ": not simulated, since no scenario can be so or it is not done";
    box.querySelector("[data-chosen]").textContent = words.join(", ") + none;
    const table = box.querySelector("table");
    table.tHead.replaceChildren(line("head", columns));
    table.tBodies[0].replaceChildren(...here.map((cell) => line("body", cell.row)));
    makeSortable(table);
  });
}

const openable = Object.fromEntries(
  all("[data-cells]").flatMap((box) => data(box).cells.map((cell) => [cell.id, cell])),
);

function choose(cell) {
  const at = { ...cell.at, method: cell.method };
  choices.forEach((one) => (one.value = at[one.dataset.choice] ?? one.value));
  showCell();
}

function open(event, link) {
  const cell = openable[link.hash.slice(1)];
  if (!cell) return;
  event.preventDefault();
  choose(cell);
  document.querySelector("[data-chosen]").focus();
}

if (window.vegaEmbed) {
  await Promise.all(all("figure:has(.chart)").map(drawAll));
  if (charts.length) all("[data-charts]").forEach((box) => (box.hidden = false));
  all("[data-methods] input").forEach((box) => box.addEventListener("change", showMethods));
  all("[data-zoom], [data-where]").forEach((one) => one.addEventListener("input", showTime));
  charts
    .filter((chart) => chart.whole)
    .forEach((chart) => chart.box.addEventListener("dblclick", (event) => zoomAt(chart, event)));
}
if (choices.length) {
  all("[data-choices], [data-cells]").forEach((box) => (box.hidden = false));
  choices.forEach((one) => one.addEventListener("change", showCell));
  all("[data-map] a").forEach((a) => a.addEventListener("click", (event) => open(event, a)));
  const best = all("[data-cells]").map((box) => openable[data(box).best]).find(Boolean);
  if (best) choose(best);
  else showCell();
}
document.documentElement.dataset.ready = "";
