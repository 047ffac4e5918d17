import { Anchor, Button, Checkbox, Group, Paper, Select, Stack, Text, Textarea, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { useMembers } from "../../api/members";
import { Fetched } from "../../ui/Fetched";
import { StateBadge } from "../../ui/StateBadge";
import { momentThere } from "../../ui/times";
import { channelName } from "../../ui/words";
import { inboundWord } from "../contacts/inbound";
import { labels, whoIs } from "./labels";
import { t } from "../../messages/inbox";

type ThreadView = Schemas["ThreadView"];
type Change = Schemas["ConversationChange"];
const ONE = "/api/v1/workspaces/{workspace_id}/inbox/{conversation_id}";

/** What one person and one account wrote to each other, oldest first, and a way to answer. */
export function Thread({ id }: { id: string }) {
  const workspace_id = useWorkspaceId();
  const thread = useQuery({
    queryKey: [workspace_id, "conversation", id],
    queryFn: () => take(api.GET(ONE, { params: { path: { workspace_id, conversation_id: id } } })),
  });
  return <Fetched query={thread}>{(found) => <Shown thread={found} />}</Fetched>;
}

function Shown({ thread }: { thread: ThreadView }) {
  const { conversation } = thread;
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const account = useAccounts().data?.find(({ id }) => id === conversation.account_id);
  return (
    <Paper withBorder p="md" component="section" aria-label={whoIs(conversation)}>
      <Stack>
        <div>
          <Title order={2} size="h4">
            {whoIs(conversation)}
          </Title>
          <Text size="sm" c="dimmed">
            {[conversation.subject, channelName(conversation.channel), account?.handle].filter((part) => part !== undefined && part !== "").join(" · ")}
          </Text>
          {conversation.contact_id !== null && (
            <Anchor component={Link} size="sm" to={`/w/${workspace_id}/contacts/person/${conversation.contact_id}`}>
              {t("viewContact")}
            </Anchor>
          )}
        </div>
        {editor && <Filing thread={thread} />}
        <Messages thread={thread} />
        {editor && <Reply thread={thread} />}
      </Stack>
    </Paper>
  );
}

function Filing({ thread: { conversation } }: { thread: ThreadView }) {
  const params = { path: { workspace_id: useWorkspaceId(), conversation_id: conversation.id } };
  const members = useMembers();
  const write = (body: Change) => take(api.PATCH(ONE, { params, body }));
  const reopen = useAct("conversation", () => write({ state: "open" }));
  const change = useAct("conversation", write, {
    done: (_, body) => (body.state === "done" ? t("isDone") : body.state === "open" ? t("isOpenAgain") : t("saved")),
    undo: (_, body) => (body.state === "done" ? () => reopen.mutate() : undefined),
  });
  return (
    <Group gap="xs">
      <Select aria-label={t("label")} placeholder={t("noLabel")} clearable w={160} data={[...labels]} value={conversation.label} onChange={(value) => change.mutate({ label: value as Change["label"] })} />
      <Select aria-label={t("assignee")} placeholder={t("assignTo")} clearable w={160} data={(members.data ?? []).map(({ id, name }) => ({ value: id, label: name }))} value={conversation.assignee} onChange={(assignee) => change.mutate({ assignee })} />
      <Button variant="default" loading={change.isPending} onClick={() => change.mutate({ state: conversation.state === "open" ? "done" : "open" })}>
        {conversation.state === "open" ? t("markDone") : t("reopen")}
      </Button>
    </Group>
  );
}

function Messages({ thread: { conversation, received, sent } }: { thread: ThreadView }) {
  const { zone } = useMe();
  const members = useMembers();
  const all = [
    ...received.map((each) => ({ key: each.id, at: each.happened_at, own: false as const, who: whoIs(conversation), state: each.kind, subject: each.subject, text: each.text === "" ? each.diagnostic : each.text })),
    ...sent.map((each) => ({
      key: each.delivery_id,
      at: each.sent_at ?? each.due_at,
      own: true as const,
      who: each.written_by === null ? t("plannedMessage") : (members.data?.find(({ id }) => each.written_by === `member:${id}` || each.written_by === id)?.name ?? t("aColleague")),
      state: each.state,
      subject: each.subject,
      text: each.text,
    })),
  ].toSorted((one, other) => (one.at < other.at ? -1 : 1));
  return (
    <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: "none" }} aria-label={t("messages")}>
      {all.map((each) => (
        <Paper key={each.key} component="li" p="sm" radius="md" bg={each.own ? "var(--mantine-primary-color-light)" : "var(--mantine-color-default-hover)"} ml={each.own ? "xl" : 0} mr={each.own ? 0 : "xl"} c="var(--mantine-color-text)">
          <Group justify="space-between" gap={6}>
            <Text size="sm" fw={650}>
              {each.who}
            </Text>
            {each.own ? each.state !== "sent" && <StateBadge state={each.state} /> : each.state !== "reply" && <Text size="xs">{inboundWord(each.state)}</Text>}
          </Group>
          <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {each.text === "" ? each.subject : each.text}
          </Text>
          <Text size="xs" mt={4}>
            {momentThere(each.at, zone)}
          </Text>
        </Paper>
      ))}
    </Stack>
  );
}

function Reply({ thread: { conversation } }: { thread: ThreadView }) {
  const params = { path: { workspace_id: useWorkspaceId(), conversation_id: conversation.id } };
  const [text, setText] = useState("");
  const [close, setClose] = useState(false);
  const reply = useAct("conversation", () => take(api.POST(`${ONE}/reply`, { params, body: { text, close } })), {
    done: ({ waits }) => (waits.length === 0 ? t("replyIsOnItsWay") : t("replyWaits", { why: waits.join(" ") })),
    after: () => setText(""),
  });
  if (conversation.address === "") return <Text size="sm">{t("nobodyToAnswer")}</Text>;
  return (
    <Stack gap="xs">
      <Textarea label={t("reply")} autosize minRows={3} maxRows={16} maxLength={50_000} value={text} onChange={(event) => setText(event.currentTarget.value)} />
      <Group justify="space-between">
        <Checkbox label={t("andMarkDone")} checked={close} onChange={(event) => setClose(event.currentTarget.checked)} />
        <Button disabled={text.trim() === ""} loading={reply.isPending} onClick={() => reply.mutate()}>
          {t("sendReply")}
        </Button>
      </Group>
    </Stack>
  );
}
