// The first row of a CSV file, read here only to offer its names; the server reads the file itself.

/** The names in the header: commas, semicolons or tabs, quotes as spreadsheets write them. */
export function headersOf(text: string): string[] {
  const plain = text.replace(/^\uFEFF/, "");
  const said = /^sep=(.)\r?\n/i.exec(plain);
  const line = said === null ? plain : plain.slice(said[0].length);
  const sign = said?.[1] ?? signOf(line);
  const names: string[] = [];
  let name = "";
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? "";
    if (letter === '"' && quoted && line[at + 1] === '"') {
      name += '"';
      at += 1;
    } else if (letter === '"') quoted = !quoted;
    else if (!quoted && (letter === "\n" || letter === "\r")) break;
    else if (!quoted && letter === sign) {
      names.push(name.trim());
      name = "";
    } else name += letter;
  }
  return [...names, name.trim()].filter((each) => each !== "");
}

function signOf(text: string): string {
  const bare = (text.split("\n", 1)[0] ?? "").split('"').filter((_, at) => at % 2 === 0).join("");
  const times = (sign: string) => bare.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (times(sign) > times(best) ? sign : best));
}
