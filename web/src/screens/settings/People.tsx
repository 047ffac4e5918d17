import { Alert, Badge, Button, Code, CopyButton, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { useMembers } from "../../api/members";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { roleChoices, roleWord, type Role } from "../../ui/roles";
import { Section } from "../../ui/Section";
import { fromNow } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { t } from "../../messages/settings";

export function People() {
  const admin = useMay("admin");
  return (
    <Stack>
      <Members />
      {admin && <Invitations />}
    </Stack>
  );
}

function useOwn() {
  const workspaceId = useWorkspaceId();
  return useMe().workspaces.find((each) => each.workspace_id === workspaceId);
}

function Members() {
  const members = useMembers();
  return (
    <Section title={t("members")}>
      <Fetched query={members} rows={3}>
        {(rows) => (
          <Stack gap="sm">
            {rows.map((each) => (
              <MemberRow key={each.id} member={each} />
            ))}
          </Stack>
        )}
      </Fetched>
    </Section>
  );
}

function MemberRow({ member }: { member: Schemas["Member"] }) {
  const workspace_id = useWorkspaceId();
  const own = useOwn();
  const admin = useMay("admin");
  const params = { path: { workspace_id, member_id: member.id } };
  const self = own?.member_id === member.id;
  const give = (role: Role) => take(api.PUT("/api/v1/workspaces/{workspace_id}/members/{member_id}/role", { params, body: { role } }));
  const done = (answer: Schemas["Member"]) => t("nameIsNowRole", { name: answer.name, role: roleWord(answer.role).toLowerCase() });
  const back = useAct("member", give, { done });
  // One's own rights do not come back by oneself.
  const change = useAct("member", give, { done, undo: () => (self ? undefined : () => back.mutate(member.role as Role)) });
  const askChange = async (role: Role) => {
    const message = t("youllBeRoleHereOnlySomeone", { role: roleWord(role).toLowerCase() });
    if (!self || (await askFirst({ title: t("lowerYourOwnRole"), message, yes: t("changeMyRole"), danger: true }))) change.mutate(role);
  };
  const remove = useAct("member", () => take(api.DELETE("/api/v1/workspaces/{workspace_id}/members/{member_id}", { params })), {
    done: () => t("nameIsNoLongerInThis", { name: member.name }),
  });
  const letGo = async () => {
    const sure = await askFirst({
      title: t("removeNameQuestion", { name: member.name }),
      message: t("theyLoseAccessToThisWorkspace"),
      yes: t("remove"),
      danger: true,
    });
    if (sure) remove.mutate();
  };
  const choices = roleChoices(own?.role ?? "viewer");
  const changeable = admin && choices.some(({ value }) => value === member.role);
  return (
    <Group justify="space-between" gap="xs">
      <div>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {member.name}
          </Text>
          {self && (
            <Badge variant="outline" size="sm">
              {t("you")}
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {member.email} · {member.second_factor ? t("twoFactorOn") : t("twoFactorOff")}
        </Text>
      </div>
      {changeable ? (
        <Group gap="xs" wrap="nowrap">
          <Select
            aria-label={t("roleOfName", { name: member.name })}
            size="xs"
            w={{ base: 200, xs: 300 }}
            allowDeselect={false}
            data={choices}
            value={member.role}
            onChange={(role) => role !== null && role !== member.role && void askChange(role as Role)}
          />
          <Button size="compact-sm" variant="subtle" color="red" onClick={() => void letGo()} aria-label={t("removeName", { name: member.name })}>
            {t("remove")}
          </Button>
        </Group>
      ) : (
        <Text size="sm">{roleWord(member.role)}</Text>
      )}
    </Group>
  );
}

function Invitations() {
  const workspace_id = useWorkspaceId();
  const own = useOwn();
  const now = useNow();
  const params = { path: { workspace_id } };
  const form = useForm({ initialValues: { email: "", role: "editor" as Role } });
  const open = useQuery({
    queryKey: [workspace_id, "invitations"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/invitations", { params })),
  });
  const invite = useAct(
    "member",
    (body: typeof form.values) => take(api.POST("/api/v1/workspaces/{workspace_id}/invitations", { params, body })),
    {
      done: (answer) => (answer.link == null ? t("invitationSentToEmail", { email: answer.email }) : t("emailIsInvited", { email: answer.email })),
      after: () => form.reset(),
      refused: (error) => {
        if (!(error instanceof Problem)) return false;
        form.setErrors({ email: error.fields.email ?? error.message });
        return true;
      },
    },
  );
  const revoke = useAct(
    "member",
    (invitation_id: string) =>
      take(
        api.DELETE("/api/v1/workspaces/{workspace_id}/invitations/{invitation_id}", {
          params: { path: { workspace_id, invitation_id } },
        }),
      ),
    { done: () => t("invitationRevokedItsLinkNoLonger"), after: () => invite.reset() },
  );
  const takeBack = async ({ id, email }: { id: string; email: string }) => {
    const message = t("itsLinkStopsWorkingYouCan");
    if (await askFirst({ title: t("revokeTheInvitationQuestion", { email }), message, yes: t("revoke"), danger: true })) revoke.mutate(id);
  };
  return (
    <Section title={t("invitations")} message={t("weEmailALinkThatWorks")}>
      <form onSubmit={form.onSubmit((values) => invite.mutate(values))}>
        <Group align="flex-start" gap="xs">
          <TextInput label={t("email")} type="email" required miw={220} style={{ flex: 1 }} {...form.getInputProps("email")} />
          <Select label={t("role")} w={{ base: "100%", xs: 320 }} allowDeselect={false} data={roleChoices(own?.role ?? "viewer")} {...form.getInputProps("role")} />
          <Button type="submit" mt={{ base: 0, xs: 24.8 }} loading={invite.isPending}>
            {t("invite")}
          </Button>
        </Group>
      </form>
      {invite.data?.link != null && (
        <Alert title={t("sendThisLinkToEmail", { email: invite.data.email })} role="status">
          <Text size="sm">{t("thisServerCantSendEmailThe")}</Text>
          <Code block style={{ whiteSpace: "pre-wrap", wordBreak: "break-all" }}>
            {invite.data.link}
          </Code>
          <CopyButton value={invite.data.link}>
            {({ copied, copy }) => (
              <Button mt="xs" size="compact-sm" onClick={copy}>
                {copied ? t("copied") : t("copyLink")}
              </Button>
            )}
          </CopyButton>
        </Alert>
      )}
      <Fetched query={open} rows={1}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t("noOpenInvitations")}
            </Text>
          ) : (
            <Stack gap="xs">
              {rows.map((each) => (
                <Group key={each.id} justify="space-between">
                  <div>
                    <Text size="sm">
                      {t("emailAsRole", { email: each.email, role: roleWord(each.role).toLowerCase() })}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {t("expiresWhen", { when: fromNow(each.ends_at, now) })}
                    </Text>
                  </div>
                  <Button size="compact-sm" variant="default" onClick={() => void takeBack(each)} aria-label={t("revokeTheInvitation", { email: each.email })}>
                    {t("revoke")}
                  </Button>
                </Group>
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Section>
  );
}
