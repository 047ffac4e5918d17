// The report by rows: what was done and what is wrong, in the order of the file.
import { columnName } from "./columns";
import type { Report } from "./useImport";

export type Told =
  | ({ kind: "done" } & Report["done"][number])
  | { kind: "wrong"; row: number; problems: Report["problems"] };

/** "Accounts: there is no account '@nobody'. Write its handle." */
export function faultWords({ column, wrong, todo }: Report["problems"][number]): string {
  const bare = (text: string) => text.replace(/\.+$/, "");
  return `${column === "" ? "" : `${columnName(column)}: `}${bare(wrong)}. ${todo.charAt(0).toUpperCase()}${bare(todo).slice(1)}.`;
}

export function tellRows({ done, problems }: Pick<Report, "done" | "problems">): Told[] {
  const wrong = new Map<number, Report["problems"]>();
  for (const each of problems) wrong.set(each.row, [...(wrong.get(each.row) ?? []), each]);
  const rows: Told[] = [
    ...done.map((each) => ({ kind: "done" as const, ...each })),
    ...[...wrong].map(([row, found]) => ({ kind: "wrong" as const, row, problems: found })),
  ];
  return rows.sort((one, other) => one.row - other.row);
}
