// What became of every recipient as a CSV file, read page by page so that a million of them need no server of their own.
import { api, take } from "../../api/client";
import { CAMPAIGN, type Campaign } from "./useCampaign";
import { t } from "../../messages/campaigns";

const PAGE = 200;

/** A cell that no spreadsheet runs as a formula. */
export function cell(value: string | number | null | undefined): string {
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const line = (values: readonly (string | number | null | undefined)[]): string => `${values.map(cell).join(",")}\r\n`;

/** Read all of it, telling how many rows there are so far. */
export async function readReport(workspace_id: string, { id: campaign_id }: Pick<Campaign, "id">, onRows: (rows: number) => void): Promise<Blob> {
  const params = (cursor: string | undefined) => ({ path: { workspace_id, campaign_id }, query: { limit: PAGE, cursor } });
  const parts = [`\uFEFF${line([t("recipient"), t("status"), t("reason"), t("sentAt"), t("attempts"), t("link")])}`];
  let rows = 0;
  const add = (items: readonly string[]) => {
    parts.push(items.join(""));
    onRows((rows += items.length));
  };
  for (let cursor: string | undefined; ; ) {
    const page = await take(api.GET(`${CAMPAIGN}/recipients`, { params: params(cursor) }));
    add(page.items.map((each) => line([each.recipient, each.state, each.reason, each.sent_at, each.attempts, each.url])));
    if (page.next === null || page.next === undefined) break;
    cursor = page.next;
  }
  for (let cursor: string | undefined; ; ) {
    const page = await take(api.GET(`${CAMPAIGN}/skipped`, { params: params(cursor) }));
    add(page.items.map((each) => line([each.recipient ?? each.member_id, "skipped", each.message, null, 0, null])));
    if (page.next === null || page.next === undefined) break;
    cursor = page.next;
  }
  return new Blob(parts, { type: "text/csv" });
}
