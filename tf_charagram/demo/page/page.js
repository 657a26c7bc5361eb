"use strict";

const $ = (id) => document.getElementById(id);
const BIAS = "(bias)";
const STATUS_DELAY_MS = 800;
const TIMEOUT_MS = 60000;
let about;
let seed = 0;

/** Makes an element; text is set as text, never as markup. */
function element(name, className, text = "", ...children) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  made.append(...children);
  return made;
}

const decimals = (value, digits = 2) => value.toFixed(digits).replace(/^-(0\.0*)$/, "$1").replace("-", "\u2212");

async function ask(path, question) {
  const options = question && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  };
  let response;
  let answer;
  try {
    response = await fetch(path, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    answer = await response.json();
  } catch {
    throw new Error("The server does not answer. Is charagram demo still running?");
  }
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function complain(error) {
  $("problem").textContent = error.message;
  $("problem").hidden = false;
}

/**
 * Returns a function that asks for what the page says now, and shows the answer.
 *
 * One question is on its way at a time, and the next is what the page says when its answer has come.
 * So no answer overtakes another, and the server never works on what nobody waits for.
 */
function newest(path, question, section, show) {
  let isAsking = false;
  let isStale = false;
  return async () => {
    isStale = true;
    if (isAsking) return;
    isAsking = true;
    section.ariaBusy = "true";
    while (isStale) {
      isStale = false;
      try {
        show(await ask(path, question()));
        $("problem").hidden = true;
      } catch (error) {
        complain(error);
      }
    }
    isAsking = false;
    section.ariaBusy = "false";
  };
}

const edits = () => Number($("edits").value);
const errors = () => ({ edits: edits(), seed });

const findNeighbors = newest(
  "/api/neighbors",
  () => ({ text: $("query").value, ...errors() }),
  $("nearest"),
  (answer) => {
    $("neighbors").replaceChildren(...answer.neighbors.map((neighbor) => {
      const row = bar(element("button", neighbor.stays ? "row" : "row new"), neighbor.text, neighbor.cosine, 2);
      row.type = "button";
      row.addEventListener("click", () => chooseNeighbor(neighbor.text));
      return element("li", "", "", row);
    }));
    $("query-typed").textContent = edits() ? answer.typed : "";
    $("query-note").textContent = neighborsNote(answer);
    const [first] = answer.neighbors;
    say(first ? `Nearest to ${answer.typed || "the empty text"}: ${first.text}, ${decimals(first.cosine)}.` : "No neighbors.");
  },
);

const compare = newest(
  "/api/compare",
  () => ({ left: $("left").value, right: $("right").value, ...errors() }),
  $("texts"),
  (answer) => {
    $("cosine").textContent = decimals(answer.cosine);
    $("cosine-note").textContent = edits() ? `${decimals(answer.clean_cosine)} without the typos in the first text` : "";
    $("explanation").hidden = !answer.explanation;
    $("unexplained").textContent = answer.explanation ? "" : whyUnexplained();
    if (answer.explanation) explain(answer.explanation);
  },
);

function neighborsNote(answer) {
  if (answer.is_cut) return `Only the first ${about.max_chars.toLocaleString()} characters are read.`;
  if (!edits()) return "";
  if (answer.typed === $("query").value) return "Typos go into words of four letters or more.";
  const all = answer.neighbors.length;
  return `${decimals(answer.cosine)} similar to the text without errors. ${answer.num_stay} of ${all} neighbors stay; new ones are in italics.`;
}

function whyUnexplained() {
  return about.can_explain
    ? `The n-grams of texts of up to ${about.max_explained_chars} characters are shown.`
    : "This model does not sum n-grams, so there are none to show.";
}

/** Fills a row: a text, a bar for a number from 0 to `most`, and the number. */
function bar(row, text, value, digits, most = 1) {
  const name = element("span", "", text);
  name.dir = "auto";
  const filled = element("span", "");
  filled.style.setProperty("--part", Math.min(Math.max(value / most, 0), 1));
  row.append(name, element("span", "bar", "", filled), element("span", "", decimals(value, digits)));
  return row;
}

function explain({ left, right, pairs }) {
  const most = Math.max(...[...left.shares, ...right.shares].map(Math.abs), 1e-9);
  colour($("left-read"), left, most);
  colour($("right-read"), right, most);
  const positive = pairs.filter(([, , value]) => value > 0.0005);
  const largest = positive.length ? positive[0][2] : 1;
  $("pairs").replaceChildren(...positive.map(([one, other, value]) => {
    const names = one === other ? visible(one) : `${visible(one)} \u00d7 ${visible(other)}`;
    return bar(element("li", "row"), names, value, 3, largest);
  }));
}

/** Shows a text with its characters in the colour of what their n-grams add. */
function colour(target, { text, shares }, most) {
  // Positions count code points; what people see as one character may be several of them.
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
  let position = 0;
  target.replaceChildren(...Array.from(segments, ({ segment }) => {
    const end = position + [...segment].length;
    const share = shares.slice(position, end).reduce((sum, value) => sum + value, 0);
    position = end;
    const shown = element("span", share < 0 ? "less" : "more", segment);
    shown.style.setProperty("--part", Math.min(Math.abs(share) / most, 1) * 0.6);
    shown.title = decimals(share, 3);
    return shown;
  }));
  target.setAttribute("aria-label", text.trim());
}

/** Returns an n-gram with its spaces shown. */
const visible = (ngram) => (ngram === BIAS ? "bias, in every text" : ngram.replaceAll(" ", "\u2423"));

function chooseNeighbor(text) {
  $("left").value = $("query").value;
  $("right").value = text;
  compare().then(() => say(`Similarity to ${text}: ${$("cosine").textContent}.`));
  $("texts").scrollIntoView({ block: "nearest" });
}

/** Tells screen readers, once typing has stopped. */
function say(text) {
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { $("status").textContent = text; }, STATUS_DELAY_MS);
}

async function start() {
  about = await ask("/api/about");
  document.title = `${about.name} \u00b7 tf-charagram`;
  $("name").textContent = about.name;
  $("facts").textContent = `${about.num_texts.toLocaleString()} texts to search, ${about.dim} dimensions`;
  $("edits").max = about.max_edits;
  for (const [id, text] of Object.entries(about.example)) {
    $(id).value = text;
    $(id).maxLength = about.max_chars;
  }
  $("query").addEventListener("input", findNeighbors);
  for (const id of ["left", "right"]) $(id).addEventListener("input", compare);
  const mistype = () => {
    $("edits-shown").textContent = edits();
    findNeighbors();
    compare();
  };
  $("edits").addEventListener("input", mistype);
  $("other-errors").addEventListener("click", () => {
    seed += 1;
    if (!edits()) $("edits").value = 1;
    mistype();
  });
  await Promise.all([findNeighbors(), compare()]);
}

start()
  .catch(complain)
  .finally(() => { document.querySelector("main").hidden = false; });
