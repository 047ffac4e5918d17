import { Draggable } from "@fullcalendar/react/interaction";
import { ActionIcon, Anchor, Group, Skeleton, Text, Title } from "@mantine/core";
import { IconCalendarTime } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { Link } from "react-router";

import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import type { Shown } from "./events";
import { useUndated } from "./useCalendar";
import { t } from "../../messages/calendar";

const FEW = 12;

export interface Draft {
  id: string;
  title: string;
}

/** Drafts without a date, above the days that could take them: dragged there, or given a time by keys. */
export function Tray({ mayEdit, onPlace }: { mayEdit: boolean; onPlace: (draft: Draft) => void }) {
  const undated = useUndated(FEW);
  const workspaceId = useWorkspaceId();
  const list = useRef<HTMLUListElement>(null);
  const ready = undated.data !== undefined && undated.data.posts.length > 0;
  useEffect(() => {
    if (list.current === null || !mayEdit) return;
    const dragging = new Draggable(list.current, {
      itemSelector: "[data-draft]",
      eventData: (element) => {
        const { draft: postId = "", title = "" } = element.dataset;
        return { title, duration: "00:50", extendedProps: { kind: "draft", postId, title } satisfies Shown };
      },
    });
    return () => dragging.destroy();
  }, [ready, mayEdit]);
  return (
    <Group component="section" gap="sm" wrap="nowrap" aria-labelledby="tray">
      <Title order={2} size="sm" id="tray" flex="none">
        {t("noDateYet")}
      </Title>
      <Fetched query={undated} loading={<Skeleton height={30} />}>
        {({ posts, more }) =>
          posts.length === 0 ? (
            <Text size="sm" c="dimmed">
              {more ? t("yourNewestDraftsAllHaveA") : t("everyDraftHasATime")}
            </Text>
          ) : (
            <ul className="tray" ref={list}>
              {posts.slice(0, FEW).map((post) => {
                const title = post.title || post.text || t("postWithoutText");
                return (
                  <li key={post.id} className="tray-draft" data-draft={mayEdit ? post.id : undefined} data-title={title}>
                    <Anchor component={Link} to={`/w/${workspaceId}/compose/${post.id}`} size="sm" truncate draggable={false} title={title}>
                      {title}
                    </Anchor>
                    {mayEdit && (
                      <ActionIcon variant="subtle" size="sm" onClick={() => onPlace({ id: post.id, title })} aria-label={t("setATimeTitle", { title })} title={t("setATime")}>
                        <IconCalendarTime size={16} />
                      </ActionIcon>
                    )}
                  </li>
                );
              })}
              {(more || posts.length > FEW) && (
                <li>
                  <Anchor component={Link} to={`/w/${workspaceId}/drafts`} size="sm">
                    {more ? t("seeDraftsForMore") : t("andPostsMore", { posts: posts.length - FEW })}
                  </Anchor>
                </li>
              )}
            </ul>
          )
        }
      </Fetched>
    </Group>
  );
}
