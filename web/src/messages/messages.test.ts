// All texts of all screens, read as a reviewer would: each can be formatted, and none uses a word of the machine room.
import { expect, test } from "vitest";

import { t as queue } from "./queue";
import { t as times } from "./ui";

const files = import.meta.glob<string>(["./*.ts", "!./*.test.ts", "!./translator.ts", "!./language.ts"], { query: "?raw", import: "default", eager: true });
const texts = Object.entries(files).flatMap(([file, source]) =>
  [...source.matchAll(/^ {2}(\w+): (".*"),$/gm)].map(([, key, quoted]) => ({ name: `${file} ${key}`, text: JSON.parse(quoted ?? "") as string })),
);

test("every text is found here", () => {
  expect(texts.length).toBeGreaterThan(1000);
});

test("no text uses an internal word, and each thing has one name", () => {
  const internal = /\b(lanes?|gates?|permits?|budgets?|leases?|settled?|deliver(y|ies)|pinned|cancelled|e-mails?|ane[w]|whoever)\b/i;
  expect(texts.filter(({ text }) => internal.test(text))).toEqual([]);
});

test("plurals and choices are said in words", () => {
  expect(queue("posts", { posts: 1 })).toBe("1 post");
  expect(queue("posts", { posts: 1200 })).toBe("1,200 posts");
  expect(queue("slotSkipped", { slot: "Mon 16 Nov, 09:00 Berlin", moved: 0 })).toBe("Mon 16 Nov, 09:00 Berlin is skipped.");
  expect(times("clocksGo", { direction: "back", minutes: 60 })).toBe("Clocks go back one hour on this day");
});
