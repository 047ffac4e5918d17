import { Anchor, Badge, Button, Checkbox, Group, Menu, Text } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { StateBadge } from "../../ui/StateBadge";
import { blockerWords } from "../../ui/words";
import { Pill } from "../composer/Pills";
import { t } from "../../messages/drafts";

type Post = Schemas["PostView"];

/** It waits for an approval, and nothing is missing: the server refuses the others. */
export const mayApprove = ({ approved, blockers }: Post): boolean => !approved && blockers.length === 0;

export function PostRow(props: { post: Post; chosen: boolean; onChoose: ((on: boolean) => void) | undefined; onLabel: (label: string) => void }) {
  const { post } = props;
  const workspaceId = useWorkspaceId();
  const words = post.title !== "" ? post.title : post.text !== "" ? post.text : t("postWithoutText");
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm" py="sm" style={{ borderBottom: "1px solid var(--mantine-color-default-border)" }}>
      {props.onChoose !== undefined && (
        <Checkbox mt={2} aria-label={t("selectText", { text: words.slice(0, 60) })} checked={props.chosen} onChange={(event) => props.onChoose?.(event.currentTarget.checked)} />
      )}
      <div style={{ flex: 1, minWidth: 0 }}>
        <Anchor component={Link} to={`/w/${workspaceId}/compose/${post.id}`} c="var(--mantine-color-text)" size="sm" lineClamp={2}>
          {words}
        </Anchor>
        <Group gap={6} mt={4}>
          <StateBadge state={post.state} />
          <Badge variant="outline" color={post.approved ? "teal" : "gray"}>
            {post.approved ? t("approved") : t("notApproved")}
          </Badge>
          {post.source !== "manual" && (
            <Badge variant="outline" color="grape">
              {post.source === "rule" ? t("createdByARule") : post.source}
            </Badge>
          )}
          {post.pills.map((pill) => (
            <Pill key={pill.delivery_id} pill={pill} />
          ))}
          {post.labels.map((label) => (
            <Button key={label} size="compact-xs" variant="default" onClick={() => props.onLabel(label)} aria-label={t("showOnlyPostsLabeledLabel", { label })}>
              {label}
            </Button>
          ))}
        </Group>
        {post.blockers.length > 0 && (
          <Text size="xs" mt={4}>
            {t("cantBeSentList", { list: post.blockers.map(blockerWords).join(", ") })}
          </Text>
        )}
      </div>
      <Acts post={post} words={words} />
    </Group>
  );
}

function Acts({ post, words }: { post: Post; words: string }) {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const params = { path: { workspace_id, post_id: post.id } };
  const handlesOf = (ids: string[]) => [...new Set(post.pills.filter(({ account_id }) => ids.includes(account_id)).map(({ handle }) => handle))].join(", ");
  const unapprove = useAct("post", () => take(api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/unapprove", { params, body: {} })), {
    done: () => t("itNeedsApprovalAgain"),
  });
  const approve = useAct("post", () => take(api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve", { params, body: { revision: post.revision } })), {
    done: ({ scheduled, missed }) =>
      missed.length > 0 ? t("approvedTimesHadAlreadyPassed", { missed: missed.length }) : scheduled.length > 0 ? t("approvedItGoesOutAsPlanned") : t("approvedToast"),
    undo: () => () => unapprove.mutate(),
  });
  const publish = useAct(
    "post",
    () => take(api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve-and-publish-now", { params, body: { revision: post.revision } })),
    { done: ({ places }) => t("publishingToAccountsAccounts", { places: places.length, accounts: handlesOf(places.map(({ account_id }) => account_id)) }) },
  );
  const remove = useAct("post", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/posts/{post_id}", { params })), {
    done: ({ message }) => message ?? t("deleted"),
  });
  if (!editor) return null;
  const lacks = post.blockers.length === 0 ? null : post.blockers.includes("needs copy") ? t("writeTheText") : t("addAnImage");
  const askPublish = async () => {
    const message = t("itsPublishedRightAwayToAccounts", { pills: post.pills.length, list: post.pills.map(({ handle }) => handle).join(", ") });
    if (await askFirst({ title: t("approveAndPublishNowQuestion"), message, yes: t("approveAndPublishNow") })) publish.mutate();
  };
  const askDelete = async () => {
    const message = t("scheduledCopiesAreCanceled");
    if (await askFirst({ title: t("deleteThisPost"), message, yes: t("delete"), danger: true })) remove.mutate();
  };
  return (
    <Group gap={4} wrap="nowrap">
      {lacks !== null && (
        <Button size="compact-sm" variant="light" component={Link} to={`/w/${workspace_id}/compose/${post.id}`} aria-label={`${lacks}: ${words.slice(0, 60)}`}>
          {lacks}
        </Button>
      )}
      {mayApprove(post) && (
        <Button size="compact-sm" variant="light" loading={approve.isPending} onClick={() => approve.mutate()} aria-label={t("approveText", { text: words.slice(0, 60) })}>
          {t("approve")}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label={t("moreForText", { text: words.slice(0, 60) })}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to={`/w/${workspace_id}/compose/${post.id}`}>
            {t("edit")}
          </Menu.Item>
          {mayApprove(post) && post.pills.length > 0 && <Menu.Item onClick={() => void askPublish()}>{t("approveAndPublishNow")}</Menu.Item>}
          {post.approved && <Menu.Item onClick={() => unapprove.mutate()}>{t("withdrawApproval")}</Menu.Item>}
          <Menu.Item color="red" onClick={() => void askDelete()}>
            {t("delete")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
