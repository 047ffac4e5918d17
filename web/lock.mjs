// Keeps package-lock.json honest; run it after `npm install`. It takes out what names a host (funding
// addresses), and fails when a platform's optional package is missing: npm leaves those out silently.
// With --check it writes nothing, and fails where it would.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("package-lock.json", import.meta.url);
const was = readFileSync(file, "utf8");
const lock = JSON.parse(was);
for (const entry of Object.values(lock.packages)) delete entry.funding;
const tidy = `${JSON.stringify(lock, null, 2)}\n`;
if (!process.argv.includes("--check")) writeFileSync(file, tidy);
else if (tidy !== was) {
  console.error("package-lock.json names hosts or is not in shape: node lock.mjs");
  process.exit(1);
}

const names = new Set(Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, "")));
const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
  Object.keys(entry.optionalDependencies ?? {})
    .filter((name) => !names.has(name))
    .map((name) => `${path} -> ${name}`),
);
if (missing.length > 0) {
  console.error(`package-lock.json lacks optional packages:\n${missing.join("\n")}`);
  process.exit(1);
}
