import { Button, Group, List, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";

import { useWorkspaceId } from "../../api/me";
import { Section } from "../../ui/Section";

/** The whole workspace as one file. The browser fetches it itself, so that its size does not matter. */
export function Export({ mayExport }: { mayExport: boolean }) {
  const workspaceId = useWorkspaceId();
  return (
    <Section title="Export" says="Everything that is this workspace's own, as one ZIP file.">
      <List size="sm">
        <List.Item>every table as JSON Lines, the readable ones as CSV too: posts, deliveries and their attempts, accounts, queues, rules, categories, limits;</List.Item>
        <List.Item>posts.csv in it can be imported again, with each post’s common text;</List.Item>
        <List.Item>keys, tokens and passwords stay behind; so do the files of pictures and videos, of which the list is in it.</List.Item>
      </List>
      {mayExport ? (
        <Group>
          <Button component="a" href={`/api/v1/workspaces/${encodeURIComponent(workspaceId)}/export`} download variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
            Download everything
          </Button>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          An admin of the workspace can download it.
        </Text>
      )}
    </Section>
  );
}
