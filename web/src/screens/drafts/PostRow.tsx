import { Anchor, Badge, Button, Checkbox, Group, Menu, Text } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { StateBadge } from "../../ui/StateBadge";
import { blockerWords, count } from "../../ui/words";
import { Pill } from "../composer/Pills";

type Post = Schemas["PostView"];

/** It waits for an approval, and nothing is missing: the server refuses the others. */
export const mayApprove = ({ approved, blockers }: Post): boolean => !approved && blockers.length === 0;

export function PostRow(props: { post: Post; chosen: boolean; onChoose: ((on: boolean) => void) | undefined; onLabel: (label: string) => void }) {
  const { post } = props;
  const workspaceId = useWorkspaceId();
  const words = post.title !== "" ? post.title : post.text !== "" ? post.text : "A post without words";
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm" py="sm" style={{ borderBottom: "1px solid var(--mantine-color-default-border)" }}>
      {props.onChoose !== undefined && (
        <Checkbox mt={2} aria-label={`Choose: ${words.slice(0, 60)}`} checked={props.chosen} onChange={(event) => props.onChoose?.(event.currentTarget.checked)} />
      )}
      <div style={{ flex: 1, minWidth: 0 }}>
        <Anchor component={Link} to={`/w/${workspaceId}/compose/${post.id}`} c="var(--mantine-color-text)" size="sm" lineClamp={2}>
          {words}
        </Anchor>
        <Group gap={6} mt={4}>
          <StateBadge state={post.state} />
          <Badge variant="outline" color={post.approved ? "teal" : "gray"}>
            {post.approved ? "Approved" : "Not approved"}
          </Badge>
          {post.source !== "manual" && (
            <Badge variant="outline" color="grape">
              {post.source === "rule" ? "Created by a rule" : post.source}
            </Badge>
          )}
          {post.pills.map((pill) => (
            <Pill key={pill.delivery_id} pill={pill} />
          ))}
          {post.labels.map((label) => (
            <Button key={label} size="compact-xs" variant="default" onClick={() => props.onLabel(label)} aria-label={`Show only label ${label}`}>
              {label}
            </Button>
          ))}
        </Group>
        {post.blockers.length > 0 && (
          <Text size="xs" mt={4}>
            Cannot go out: {post.blockers.map(blockerWords).join(", ")}
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
    done: () => "It waits for approval again.",
  });
  const approve = useAct("post", () => take(api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve", { params, body: { revision: post.revision } })), {
    done: ({ scheduled, missed }) =>
      missed.length > 0 ? `Approved. ${count(missed.length, "time")} had passed already.` : scheduled.length > 0 ? "Approved: it goes out as planned." : "Approved.",
    undo: () => () => unapprove.mutate(),
  });
  const publish = useAct(
    "post",
    () => take(api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve-and-publish-now", { params, body: { revision: post.revision } })),
    { done: ({ places }) => `On its way in ${count(places.length, "place")}: ${handlesOf(places.map(({ account_id }) => account_id))}.` },
  );
  const remove = useAct("post", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/posts/{post_id}", { params })), {
    done: ({ says }) => says ?? "Deleted.",
  });
  if (!editor) return null;
  const lacks = post.blockers.length === 0 ? null : post.blockers.includes("needs copy") ? "Write the text" : "Add a picture";
  const askPublish = async () => {
    const says = `It goes out at once in ${count(post.pills.length, "place")}: ${post.pills.map(({ handle }) => handle).join(", ")}.`;
    if (await askFirst({ title: "Approve and publish now?", says, yes: "Approve and publish now" })) publish.mutate();
  };
  const askDelete = async () => {
    const says = "Scheduled copies are canceled. Published posts stay online.";
    if (await askFirst({ title: "Delete this post?", says, yes: "Delete", danger: true })) remove.mutate();
  };
  return (
    <Group gap={4} wrap="nowrap">
      {lacks !== null && (
        <Button size="compact-sm" variant="light" component={Link} to={`/w/${workspace_id}/compose/${post.id}`} aria-label={`${lacks}: ${words.slice(0, 60)}`}>
          {lacks}
        </Button>
      )}
      {mayApprove(post) && (
        <Button size="compact-sm" variant="light" loading={approve.isPending} onClick={() => approve.mutate()} aria-label={`Approve: ${words.slice(0, 60)}`}>
          Approve
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More for ${words.slice(0, 60)}`}>
            <IconDots size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to={`/w/${workspace_id}/compose/${post.id}`}>
            Edit
          </Menu.Item>
          {mayApprove(post) && post.pills.length > 0 && <Menu.Item onClick={() => void askPublish()}>Approve and publish now</Menu.Item>}
          {post.approved && <Menu.Item onClick={() => unapprove.mutate()}>Take the approval back</Menu.Item>}
          <Menu.Item color="red" onClick={() => void askDelete()}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
