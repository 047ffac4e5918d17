import { Anchor, Paper, Stack, Text, Title } from "@mantine/core";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { useUndated } from "./useCalendar";

const FEW = 12;

/** Drafts without a date, beside the days that could take them. */
export function Tray() {
  const undated = useUndated();
  const workspaceId = useWorkspaceId();
  return (
    <Paper component="section" withBorder p="sm" aria-labelledby="tray">
      <Title order={2} size="h5" id="tray" mb="xs">
        Without a date
      </Title>
      <Fetched query={undated} rows={2}>
        {(posts) =>
          posts.length === 0 ? (
            <Text size="sm" c="dimmed">
              Every draft has its time.
            </Text>
          ) : (
            <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: "none" }}>
              {posts.slice(0, FEW).map((post) => (
                <li key={post.id}>
                  <Anchor component={Link} to={`/w/${workspaceId}/compose/${post.id}`} size="sm" lineClamp={2}>
                    {post.title || post.text || "A post without words"}
                  </Anchor>
                </li>
              ))}
              {posts.length > FEW && (
                <li>
                  <Anchor component={Link} to={`/w/${workspaceId}/drafts`} size="sm">
                    and {posts.length - FEW} more
                  </Anchor>
                </li>
              )}
            </Stack>
          )
        }
      </Fetched>
    </Paper>
  );
}
