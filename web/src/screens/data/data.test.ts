import { expect, it } from "vitest";

import { headersOf } from "./headers";
import { faultWords, tellRows } from "./tell";

it.each([
  ["text,accounts,when\nhello", ["text", "accounts", "when"]],
  ["\uFEFFtext;accounts\r\nhello", ["text", "accounts"]],
  ["sep=;\ntext;when\n", ["text", "when"]],
  ['"Body, long";"say ""when"""\n', ["Body, long", 'say "when"']],
  ["text\twhen", ["text", "when"]],
  ["", []],
])("the names in the first row of %j are read", (text, names) => {
  expect(headersOf(text)).toEqual(names);
});

it("several faults of a row stand together, among the others in the file's order", () => {
  const problem = (row: number, column: string) => ({ row, column, wrong: "w", todo: "t" });
  const done = { row: 3, post_id: "p", approved: true, due_at: null, again: false, notes: [] };
  const told = tellRows({ done: [done], problems: [problem(4, "zone"), problem(2, "when"), problem(2, "accounts")] });
  expect(told.map((each) => [each.row, each.kind === "wrong" ? each.problems.length : 0])).toEqual([
    [2, 2],
    [3, 0],
    [4, 1],
  ]);
});

it("a fault is told in whole sentences, whatever stops they came with", () => {
  expect(faultWords({ row: 4, column: "accounts", wrong: "there is no account '@nobody'.", todo: "write its handle" })).toBe("Accounts: there is no account '@nobody'. Write its handle.");
});
