// Fails when the lock lacks a platform's optional package: npm leaves out silently what it cannot find.
import { readFileSync } from "node:fs";

const lock = JSON.parse(readFileSync(new URL("package-lock.json", import.meta.url), "utf8"));
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
