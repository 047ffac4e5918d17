import { Anchor, Checkbox, ScrollArea, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { moment } from "../../ui/times";
import { faultWords, tellRows, type Told } from "./tell";
import type { Report } from "./useImport";
import { t } from "../../messages/data";

const MOST = 200;

/** What becomes of every row, in the file's own order. */
export function Rows({ report, zone }: { report: Report; zone: string }) {
  const [wrongOnly, setWrongOnly] = useState(false);
  const all = tellRows(report);
  const shown = wrongOnly ? all.filter((each) => each.kind === "wrong") : all;
  return (
    <Stack gap="xs">
      {report.problems.length > 0 && report.done.length > 0 && (
        <Checkbox label={t("onlyRowsWithProblems")} checked={wrongOnly} onChange={(event) => setWrongOnly(event.currentTarget.checked)} />
      )}
      <ScrollArea.Autosize mah={420} type="auto" viewportProps={{ tabIndex: 0, "aria-label": t("rowsInTheFile") }}>
        <Table stickyHeader striped aria-label={t("resultForEachRow")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={60}>{t("row")}</Table.Th>
              <Table.Th>{t("result")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.slice(0, MOST).map((each) => (
              <Table.Tr key={`${each.row} ${each.kind}`}>
                <Table.Td>{each.row}</Table.Td>
                <Table.Td>
                  <Words told={each} zone={zone} made={!report.dry_run} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      {shown.length > MOST && (
        <Text size="sm" c="dimmed">
          {t("andMoreRows", { shown: shown.length - MOST })}
        </Text>
      )}
    </Stack>
  );
}

function Words({ told, zone, made }: { told: Told; zone: string; made: boolean }) {
  const workspaceId = useWorkspaceId();
  if (told.kind === "wrong") {
    return (
      <Stack gap={2}>
        {told.problems.map((each, at) => (
          <Text key={at} size="sm">
            <Text span fw={700} c="var(--mantine-color-error)">
              {t("skipped")}
            </Text>{" "}
            {faultWords(each)}
          </Text>
        ))}
      </Stack>
    );
  }
  const approved = told.approved ? "yes" : "no";
  const fresh = told.due_at === null ? t("rowDraft", { approved }) : t("rowScheduled", { time: moment(told.due_at, zone), approved });
  const what = told.again ? t("alreadyImportedSkipped") : fresh;
  return (
    <Text size="sm">
      {made ? (
        <Anchor component={Link} to={`/w/${workspaceId}/compose/${told.post_id}`} inherit underline="always">
          {what}
        </Anchor>
      ) : (
        what
      )}
      .{told.notes.map((note) => ` ${note.charAt(0).toUpperCase()}${note.slice(1)}.`)}
    </Text>
  );
}
