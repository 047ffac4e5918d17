import { Anchor, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { moment } from "../../ui/times";
import { t } from "../../messages/contacts";

const EXPORTS = "/api/v1/workspaces/{workspace_id}/contact-exports";
const OFTEN = 1_000;
const isOpen = ({ state }: Schemas["ContactExportView"]): boolean => state === "waiting" || state === "running";

/** Everybody as a file, written in the background. */
export function ContactExport() {
  const workspace_id = useWorkspaceId();
  const { zone } = useMe();
  const params = { path: { workspace_id } };
  const exports = useQuery({
    queryKey: [workspace_id, "contact-exports"],
    queryFn: () => take(api.GET(EXPORTS, { params })),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? OFTEN : false),
  });
  const begin = useAct("contact_export", (format: "csv" | "xlsx") => take(api.POST(EXPORTS, { params, body: { format } })));
  return (
    <Section title={t("exportContacts")} message={t("everybodyAsAFile")}>
      <Group>
        {(["csv", "xlsx"] as const).map((format) => (
          <Button key={format} variant="default" loading={begin.isPending && begin.variables === format} disabled={exports.data?.some(isOpen)} onClick={() => begin.mutate(format)}>
            {t("exportAs", { format: format.toUpperCase() })}
          </Button>
        ))}
      </Group>
      <Fetched query={exports} rows={1}>
        {(found) => (
          <Stack gap="xs">
            {found.slice(0, 5).map((each) =>
              isOpen(each) ? (
                <Progress key={each.id} value={each.percent} animated aria-label={t("progress")} />
              ) : (
                <Group key={each.id} gap="xs">
                  <IconDownload size={16} aria-hidden />
                  {each.state === "failed" ? (
                    <Text size="sm">{each.reason ?? t("itFailed")}</Text>
                  ) : (
                    <Anchor size="sm" download href={`${EXPORTS.replace("{workspace_id}", workspace_id)}/${each.id}/file`}>
                      {t("contactsOfTime", { rows: each.rows_done, time: moment(each.asked_at, zone) })}
                    </Anchor>
                  )}
                </Group>
              ),
            )}
          </Stack>
        )}
      </Fetched>
    </Section>
  );
}
