// Which language the page is in: the first of the browser's that `languages/<tag>.json` translates, else English. A
// translation is one JSON file, `{ "queue": { "resume": "…" } }`, by screen and key; it is loaded before any text is read.
type Translation = Record<string, Record<string, string>>;

const translations = import.meta.glob<Translation>("./languages/*.json", { import: "default" });
const wanted = navigator.languages.find((tag) => tag.startsWith("en") || `./languages/${tag}.json` in translations) ?? "en";
const load = translations[`./languages/${wanted}.json`];

export const language = load === undefined ? "en" : wanted;
export const texts: Translation = load === undefined ? {} : await load();
