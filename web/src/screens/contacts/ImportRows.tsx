import { Group, Text } from "@mantine/core";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { LongList } from "../../ui/LongList";
import { usePages } from "../../ui/Paged";
import { IMPORT, type ContactImport } from "./useImports";
import { t } from "../../messages/contacts";

type Row = Schemas["ImportRowView"];

const verdicts: Record<string, string> = {
  created: t("verdictCreated"),
  updated: t("verdictUpdated"),
  unchanged: t("verdictUnchanged"),
  refused: t("verdictRefused"),
  flagged: t("verdictFlagged"),
  skipped: t("verdictSkipped"),
};

/** What becomes of each row, in the file's own order. */
export function ImportRows({ one }: { one: ContactImport }) {
  const workspace_id = useWorkspaceId();
  const rows = usePages<Row, number>([workspace_id, "import-rows", one.id, one.state, one.finished_at], (after) =>
    take(api.GET(`${IMPORT}/rows`, { params: { path: { workspace_id, import_id: one.id }, query: { after, limit: 200 } } })),
  );
  return (
    <LongList pages={rows} label={t("resultForEachRow")} rowHeight={52} keyOf={({ row, column, code }) => `${row} ${column} ${code}`} empty={null}>
      {(each) => (
        <Group h="100%" wrap="nowrap" gap="sm">
          <Text size="sm" c="dimmed" w={64} style={{ flex: "none" }}>
            {t("rowNumber", { row: each.row })}
          </Text>
          <Text size="sm" lineClamp={2}>
            <Text span inherit fw={650} c={each.verdict === "refused" ? "var(--mantine-color-error)" : undefined}>
              {verdicts[each.verdict] ?? each.verdict}
            </Text>{" "}
            {each.message !== null && [each.column, each.value, each.message].filter((part) => part !== null && part !== "").join(": ")}
          </Text>
        </Group>
      )}
    </LongList>
  );
}
