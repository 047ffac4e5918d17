import { Anchor, Button, Group, List, Progress, Stack, Text } from "@mantine/core";
import { IconDownload, IconFileZip } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { moment } from "../../ui/times";
import { t } from "../../messages/data";

type Shown = Schemas["ExportView"];
const often = 1_000;

/** The whole workspace as one file, packed in the background: one can leave and come back for it. */
export function Export({ mayExport }: { mayExport: boolean }) {
  return (
    <Section title={t("export")} message={t("allDataOfThisWorkspaceIn")}>
      <List size="sm">
        <List.Item>{t("postsSentPostsAndAttemptsAccounts")}</List.Item>
        <List.Item>{t("youCanImportPostsCsvAgain")}</List.Item>
        <List.Item>{t("keysTokensAndPasswordsArent")}</List.Item>
      </List>
      {mayExport ? (
        <Exports />
      ) : (
        <Text size="sm" c="dimmed">
          {t("workspaceAdminsCanDownloadIt")}
        </Text>
      )}
    </Section>
  );
}

const isOpen = ({ state }: Shown): boolean => state === "waiting" || state === "running";

function Exports() {
  const workspaceId = useWorkspaceId();
  const params = { path: { workspace_id: workspaceId } };
  const exports = useQuery({
    queryKey: [workspaceId, "exports"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/exports", { params })),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? often : false),
  });
  const begin = useAct("export", () => take(api.POST("/api/v1/workspaces/{workspace_id}/exports", { params })));
  return (
    <Stack>
      <Group>
        <Button
          variant="default"
          leftSection={<IconFileZip size={16} aria-hidden />}
          loading={begin.isPending}
          disabled={exports.data?.some(isOpen) === true}
          onClick={() => begin.mutate()}
        >
          {t("exportEverything")}
        </Button>
      </Group>
      <Fetched query={exports} rows={1}>
        {(list) => (
          <Stack gap="sm">
            {list.map((each) => (
              <One key={each.id} of={each} workspaceId={workspaceId} />
            ))}
          </Stack>
        )}
      </Fetched>
    </Stack>
  );
}

function One({ of, workspaceId }: { of: Shown; workspaceId: string }) {
  const { zone } = useMe();
  if (isOpen(of)) {
    const message = of.state === "waiting" ? t("waitingToStartDots") : t("preparingPercent", { percent: of.percent });
    return (
      <div>
        <Text size="sm" mb={4} aria-live="polite">
          {t("saysYouCanLeaveThisPage", { message })}
        </Text>
        <Progress value={of.percent} animated aria-label={t("exportProgress")} />
      </div>
    );
  }
  if (of.state === "failed") {
    return (
      <Text size="sm" c="red">
        {t("theExportOfTimeFailedReason", { time: moment(of.asked_at, zone), reason: of.reason ?? t("noReasonGiven") })}
      </Text>
    );
  }
  const file = `/api/v1/workspaces/${encodeURIComponent(workspaceId)}/exports/${encodeURIComponent(of.id)}/file`;
  return (
    <Group gap="xs">
      <IconDownload size={16} aria-hidden />
      <Anchor href={file} download size="sm">
        {t("downloadTheExportOfTime", { time: moment(of.asked_at, zone) })}
      </Anchor>
      <Text size="sm" c="dimmed">
        {size(of.bytes ?? 0)}
        {of.expires_at !== null && t("availableUntilTime", { time: moment(of.expires_at, zone) })}
      </Text>
    </Group>
  );
}

/** 312 kB, 1.4 MB */
function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
