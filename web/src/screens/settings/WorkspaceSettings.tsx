// The workspace: its name and zone, whether rules work, the emergency stop, and leaving it.
import { Alert, Autocomplete, Button, Group, Stack, Switch, TextInput } from "@mantine/core";
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
  const { name, zone, active } = workspace;
  const form = useForm({ initialValues: { name, zone, active } });
  const save = useAct(
    "workspace",
    (body: typeof form.values) => take(api.PATCH("/api/v1/workspaces/{workspace_id}", { params: { path: { workspace_id } }, body })),
    {
      done: () => "Saved.",
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
    <Section title="Workspace" says={admin ? undefined : "An admin can change this."}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <TextInput label="Name" required miw={200} disabled={!admin} {...form.getInputProps("name")} />
            <Autocomplete label="Time zone" required miw={200} data={zones} limit={20} disabled={!admin} {...form.getInputProps("zone")} />
          </Group>
          <Switch
            label="Rules lay out posts"
            description="Off: no rule writes new drafts here. What is laid out stays."
            disabled={!admin}
            {...form.getInputProps("active", { type: "checkbox" })}
          />
          {admin && (
            <Button type="submit" w="fit-content" disabled={!form.isDirty()} loading={save.isPending}>
              Save
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
    done: () => "Stopped: nothing leaves this workspace.",
    after: () => form.reset(),
  });
  const start = useAct("workspace", () => take(api.POST("/api/v1/workspaces/{workspace_id}/start", { params, body: { choice: "shift" } })), {
    done: () => "Sending goes on.",
  });
  const goOn = async () => {
    const says = "What came due meanwhile takes the next free slots, in order; everything behind it moves on.";
    if (await askFirst({ title: "Resume sending?", says, yes: "Resume" })) start.mutate();
  };
  if (workspace.stopped_at !== null) {
    return (
      <Section title="Everything is stopped">
        <Alert color="red" title={workspace.stop_reason ?? "No reason was given"}>
          Nothing leaves this workspace since {moment(workspace.stopped_at, zone)}.
        </Alert>
        {admin ? (
          <Button w="fit-content" loading={start.isPending} onClick={() => void goOn()}>
            Resume sending
          </Button>
        ) : (
          "An admin can let it go on."
        )}
      </Section>
    );
  }
  return (
    <Section title="Stop everything" says="Nothing more leaves this workspace, from any account, until an admin lets it go on. All see the reason.">
      {editor && (
        <form onSubmit={form.onSubmit((values) => stop.mutate(values))}>
          <Group align="flex-end">
            <TextInput label="Why" placeholder="a wrong link in all posts" required style={{ flex: 1 }} miw={200} {...form.getInputProps("reason")} />
            <Button type="submit" color="red" loading={stop.isPending}>
              Stop everything
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
    const says = "You see nothing of it any more, and your API keys for it end. Only an invitation brings you back.";
    if (await askFirst({ title: `Leave ${workspace.name}?`, says, yes: "Leave", danger: true })) leave.mutate();
  };
  return (
    <Section
      title="Leave"
      says="The last owner cannot leave."
      actions={
        <Button variant="default" color="red" onClick={() => void ask()}>
          Leave this workspace
        </Button>
      }
    />
  );
}
