// What an account that sends mail has besides: whether it is made for many, and where answers to it arrive.
import { Alert, Button, Group, PasswordInput, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { ago } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { t } from "../../messages/accounts";

const ACCOUNT = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}";
type Mailbox = Schemas["MailboxView"];

export function MailTab({ account, mayChange }: { account: Account; mayChange: boolean }) {
  const params = { path: { workspace_id: useWorkspaceId(), account_id: account.id } };
  const change = useAct("account", (bulk: boolean) => take(api.PATCH(ACCOUNT, { params, body: { bulk } })), { done: () => t("saved") });
  const mailbox = useQuery({
    queryKey: [params.path.workspace_id, "mailbox", account.id],
    queryFn: () =>
      take(api.GET(`${ACCOUNT}/mailbox`, { params })).catch((error: unknown) => {
        if (error instanceof Problem && error.status === 404) return null; // none is set up
        throw error;
      }),
    enabled: mayChange,
  });
  return (
    <Stack>
      <Switch label={t("madeForMany")} description={t("madeForManyMessage")} disabled={!mayChange || change.isPending} checked={account.bulk} onChange={(event) => change.mutate(event.currentTarget.checked)} />
      {mayChange && (
        <Fetched query={mailbox} rows={2}>
          {(found) => <MailboxPart account={account} mailbox={found} />}
        </Fetched>
      )}
    </Stack>
  );
}

function MailboxPart({ account, mailbox }: { account: Account; mailbox: Mailbox | null }) {
  const params = { path: { workspace_id: useWorkspaceId(), account_id: account.id } };
  const now = useNow();
  const [editing, setEditing] = useState(false);
  const remove = useAct("mailbox", () => take(api.DELETE(`${ACCOUNT}/mailbox`, { params })), { done: () => t("mailboxIsRemoved") });
  const ask = async () => {
    if (await askFirst({ title: t("removeMailboxQuestion"), message: t("repliesAreNoLongerRead"), yes: t("remove"), danger: true })) remove.mutate();
  };
  if (editing) return <MailboxForm account={account} mailbox={mailbox} onDone={() => setEditing(false)} />;
  return (
    <Stack gap="xs">
      <Text fw={650}>{t("replies")}</Text>
      {mailbox === null ? (
        <Text size="sm">{t("noMailboxIsRead")}</Text>
      ) : (
        <Alert color={mailbox.error === null ? "teal" : "red"} title={t("mailboxAt", { username: mailbox.username, host: mailbox.host })}>
          {mailbox.error ?? (mailbox.polled_at === null ? t("notReadYet") : t("lastRead", { when: ago(mailbox.polled_at, now) }))}
        </Alert>
      )}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => setEditing(true)}>
          {mailbox === null ? t("setUpMailbox") : t("changeMailbox")}
        </Button>
        {mailbox !== null && (
          <Button size="xs" variant="default" loading={remove.isPending} onClick={() => void ask()}>
            {t("removeDots")}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function MailboxForm({ account, mailbox, onDone }: { account: Account; mailbox: Mailbox | null; onDone: () => void }) {
  const params = { path: { workspace_id: useWorkspaceId(), account_id: account.id } };
  const byToken = account.provider !== "smtp"; // its own sign-in reads the mailbox too
  const form = useForm({ initialValues: { host: mailbox?.host ?? "", username: mailbox?.username ?? account.handle, password: "", security: (mailbox?.security ?? "tls") as "tls" | "starttls" | "none" } });
  const save = useAct("mailbox", (body: typeof form.values) => take(api.PUT(`${ACCOUNT}/mailbox`, { params, body: { ...body, auth: byToken ? "xoauth2" : "password", password: byToken ? null : body.password } })), {
    done: () => t("mailboxIsRead"),
    after: onDone,
    refused: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack gap="sm">
        <Text fw={650}>{t("replies")}</Text>
        <TextInput label={t("imapServer")} required {...form.getInputProps("host")} />
        <TextInput label={t("userName")} required autoComplete="off" {...form.getInputProps("username")} />
        {!byToken && <PasswordInput label={t("password")} description={t("oftenAnAppPassword")} required autoComplete="new-password" {...form.getInputProps("password")} />}
        <Select
          label={t("encryption")}
          allowDeselect={false}
          data={[
            { value: "tls", label: "TLS" },
            { value: "starttls", label: "STARTTLS" },
            { value: "none", label: t("noEncryption") },
          ]}
          {...form.getInputProps("security")}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {t("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t("saveMailbox")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
