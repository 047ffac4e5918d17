import { Draggable } from "@fullcalendar/react/interaction";
import { Anchor, Button, Paper, Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import type { Shown } from "./events";
import { useUndated } from "./useCalendar";

const FEW = 12;

export interface Draft {
  id: string;
  title: string;
}

/** Drafts without a date, beside the days that could take them: dragged there, or given a time by keys. */
export function Tray({ mayEdit, onPlace }: { mayEdit: boolean; onPlace: (draft: Draft) => void }) {
  const undated = useUndated(FEW);
  const workspaceId = useWorkspaceId();
  const list = useRef<HTMLDivElement>(null);
  const ready = undated.data !== undefined && undated.data.posts.length > 0;
  useEffect(() => {
    if (list.current === null || !mayEdit) return;
    const dragging = new Draggable(list.current, {
      itemSelector: "[data-draft]",
      eventData: (element) => {
        const { draft: postId = "", title = "" } = element.dataset;
        return { title, duration: "00:55", extendedProps: { kind: "draft", postId, title } satisfies Shown };
      },
    });
    return () => dragging.destroy();
  }, [ready, mayEdit]);
  return (
    <Paper component="section" withBorder p="sm" aria-labelledby="tray">
      <Title order={2} size="h5" id="tray" mb="xs">
        Without a date
      </Title>
      <Fetched query={undated} rows={2}>
        {({ posts, more }) =>
          posts.length === 0 ? (
            <Text size="sm" c="dimmed">
              {more ? "The newest drafts all have their time; look among the older ones in Drafts." : "Every draft has its time."}
            </Text>
          ) : (
            <div ref={list}>
            <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: "none" }}>
              {posts.slice(0, FEW).map((post) => {
                const title = post.title || post.text || "A post without words";
                return (
                  <li key={post.id} data-draft={post.id} data-title={title} className={mayEdit ? "tray-draft" : undefined}>
                    <Anchor component={Link} to={`/w/${workspaceId}/compose/${post.id}`} size="sm" lineClamp={2} draggable={false}>
                      {title}
                    </Anchor>
                    {mayEdit && (
                      <Button size="compact-xs" variant="default" mt={4} onClick={() => onPlace({ id: post.id, title })} aria-label={`Give it a time: ${title}`}>
                        Give it a time…
                      </Button>
                    )}
                  </li>
                );
              })}
              {(more || posts.length > FEW) && (
                <li>
                  <Anchor component={Link} to={`/w/${workspaceId}/drafts`} size="sm">
                    {more ? "There may be more in Drafts" : `and ${posts.length - FEW} more`}
                  </Anchor>
                </li>
              )}
            </Stack>
            </div>
          )
        }
      </Fetched>
    </Paper>
  );
}
