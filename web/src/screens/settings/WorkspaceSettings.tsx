// The workspace: its name and zone, whether rules work, the emergency stop, and leaving it.
import { Alert, Autocomplete, Button, Group, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useMe, useWorkspace, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { Fetched } from "../../ui/Fetched";
import { Section } from "../../ui/Section";
import { moment } from "../../ui/times";
import { zones } from "../../ui/zones";
import { t } from "../../messages/settings";

export function WorkspaceSettings() {
  return (
    <Fetched query={useWorkspace()} rows={3}>
      {(workspace) => (
        <Stack>
          <Name key={workspace.id} workspace={workspace} />
          <StopAll workspace={workspace} />
          <Leave workspace={workspace} />
        </Stack>
      )}
    </Fetched>
  );
}

function Name({ workspace }: { workspace: Schemas["Workspace"] }) {
  const workspace_id = useWorkspaceId();
  const admin = useMay("admin");
  const queries = useQueryClient();
  const { name, zone, active, postal_address } = workspace;
  const form = useForm({ initialValues: { name, zone, active, postal_address } });
  const save = useAct(
    "workspace",
    (body: typeof form.values) => take(api.PATCH("/api/v1/workspaces/{workspace_id}", { params: { path: { workspace_id } }, body })),
    {
      done: () => t("saved"),
      after: () => {
        form.resetDirty();
        return queries.invalidateQueries({ queryKey: ["me"] });
      },
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  return (
    <Section title={t("workspace")} message={admin ? undefined : t("onlyAdminsCanChangeThis")}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <TextInput label={t("name")} required miw={200} disabled={!admin} {...form.getInputProps("name")} />
            <Autocomplete label={t("timeZone")} required miw={200} data={zones} limit={20} disabled={!admin} {...form.getInputProps("zone")} />
          </Group>
          <Textarea label={t("postalAddress")} description={t("mailsToManyHaveToShowIt")} autosize minRows={2} maxLength={500} disabled={!admin} {...form.getInputProps("postal_address")} />
          <Switch
            label={t("rulesCreatePosts")}
            description={t("ifOffRulesDontCreateNew")}
            disabled={!admin}
            {...form.getInputProps("active", { type: "checkbox" })}
          />
          {admin && (
            <Button type="submit" w="fit-content" disabled={!form.isDirty()} loading={save.isPending}>
              {t("save")}
            </Button>
          )}
        </Stack>
      </form>
    </Section>
  );
}

function StopAll({ workspace }: { workspace: Schemas["Workspace"] }) {
  const params = { path: { workspace_id: useWorkspaceId() } };
  const editor = useMay("editor");
  const admin = useMay("admin");
  const { zone } = useMe();
  const form = useForm({ initialValues: { reason: "" } });
  const stop = useAct("workspace", (body: typeof form.values) => take(api.POST("/api/v1/workspaces/{workspace_id}/stop", { params, body })), {
    done: () => t("stoppedNothingIsSentFromThis"),
    after: () => form.reset(),
  });
  const start = useAct("workspace", () => take(api.POST("/api/v1/workspaces/{workspace_id}/start", { params, body: { choice: "shift" } })), {
    done: () => t("sendingResumed"),
  });
  const goOn = async () => {
    const message = t("postsThatWereDueInThe");
    if (await askFirst({ title: t("resumeSendingQuestion"), message, yes: t("resume") })) start.mutate();
  };
  if (workspace.stopped_at !== null) {
    return (
      <Section title={t("sendingIsStopped")}>
        <Alert color="red" title={workspace.stop_reason ?? t("noReasonGiven")}>
          {t("nothingHasBeenSentFromThis", { time: moment(workspace.stopped_at, zone) })}
        </Alert>
        {admin ? (
          <Button w="fit-content" loading={start.isPending} onClick={() => void goOn()}>
            {t("resumeSending")}
          </Button>
        ) : (
          t("anAdminCanResumeIt")
        )}
      </Section>
    );
  }
  return (
    <Section title={t("stopAllSending")} message={t("nothingIsSentFromAnyAccount")}>
      {editor && (
        <form onSubmit={form.onSubmit((values) => stop.mutate(values))}>
          <Group align="flex-end">
            <TextInput label={t("reason")} placeholder={t("wrongLinkInAllPosts")} required style={{ flex: 1 }} miw={200} {...form.getInputProps("reason")} />
            <Button type="submit" color="red" loading={stop.isPending}>
              {t("stopAllSending")}
            </Button>
          </Group>
        </form>
      )}
    </Section>
  );
}

function Leave({ workspace }: { workspace: Schemas["Workspace"] }) {
  const params = { path: { workspace_id: useWorkspaceId() } };
  const go = useNavigate();
  const queries = useQueryClient();
  const leave = useAct("workspace", () => take(api.POST("/api/v1/workspaces/{workspace_id}/leave", { params })), {
    after: async () => {
      await queries.invalidateQueries({ queryKey: ["me"] });
      await go("/");
    },
  });
  const ask = async () => {
    const message = t("youLoseAccessToItAnd");
    if (await askFirst({ title: t("leaveName", { name: workspace.name }), message, yes: t("leave"), danger: true })) leave.mutate();
  };
  return (
    <Section
      title={t("leave")}
      message={t("theLastOwnerCantLeave")}
      actions={
        <Button variant="default" color="red" onClick={() => void ask()}>
          {t("leaveThisWorkspace")}
        </Button>
      }
    />
  );
}
