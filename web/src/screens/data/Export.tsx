import { Anchor, Button, Group, List, Progress, Stack, Text } from "@mantine/core";
import { IconDownload, IconFileZip } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { moment } from "../../ui/times";

type Shown = Schemas["ExportView"];
const often = 1_000;

/** The whole workspace as one file, packed in the background: one can leave and come back for it. */
export function Export({ mayExport }: { mayExport: boolean }) {
  return (
    <Section title="Export" says="Everything that is this workspace's own, as one ZIP file.">
      <List size="sm">
        <List.Item>every table as JSON Lines, the readable ones as CSV too: posts, deliveries and their attempts, accounts, queues, rules, categories, limits;</List.Item>
        <List.Item>posts.csv in it can be imported again, with each post’s common text;</List.Item>
        <List.Item>keys, tokens and passwords stay behind; so do the files of pictures and videos, of which the list is in it.</List.Item>
      </List>
      {mayExport ? (
        <Exports />
      ) : (
        <Text size="sm" c="dimmed">
          An admin of the workspace can download it.
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
          Export everything
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
    const says = of.state === "waiting" ? "Waiting for a worker…" : `Packing: ${of.percent} %`;
    return (
      <div>
        <Text size="sm" mb={4} aria-live="polite">
          {says} You can leave this page; the file will be here when it’s ready.
        </Text>
        <Progress value={of.percent} animated aria-label="Export progress" />
      </div>
    );
  }
  if (of.state === "failed") {
    return (
      <Text size="sm" c="red">
        The export of {moment(of.asked_at, zone)} failed: {of.reason}. Try again.
      </Text>
    );
  }
  const file = `/api/v1/workspaces/${encodeURIComponent(workspaceId)}/exports/${encodeURIComponent(of.id)}/file`;
  return (
    <Group gap="xs">
      <IconDownload size={16} aria-hidden />
      <Anchor href={file} download size="sm">
        Download the export of {moment(of.asked_at, zone)}
      </Anchor>
      <Text size="sm" c="dimmed">
        {size(of.bytes ?? 0)}
        {of.expires_at !== null && `, available until ${moment(of.expires_at, zone)}`}
      </Text>
    </Group>
  );
}

/** 312 kB, 1.4 MB */
function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
