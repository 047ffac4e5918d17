import { Button, Checkbox, Fieldset, Group, Modal, MultiSelect, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMe, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { accountLabel } from "../../ui/AccountChoice";
import { localInstant } from "../../ui/localInstant";
import { roleChoices, type Role } from "../../ui/roles";
import { WallTimeInput } from "../../ui/WallTimeInput";
import { UNFINISHED } from "../../ui/wallTimes";
import { scopeGroups } from "./scopes";

export function NewKey(props: { opened: boolean; onClose: () => void; onMade: (key: string) => void }) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title="A new key" size="lg">
      <KeyForm {...props} />
    </Modal>
  );
}

function KeyForm({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const workspace_id = useWorkspaceId();
  const me = useMe();
  const accounts = useAccounts();
  const own = me.workspaces.find((each) => each.workspace_id === workspace_id)?.role ?? "viewer";
  const form = useForm({
    initialValues: {
      name: "",
      role: "editor" as Role,
      scopes: ["posts:read", "posts:write", "queue:read", "queue:write"],
      accounts: [] as string[],
      publish_per_day: "" as number | "",
      ends: "",
    },
    validate: {
      scopes: (value) => (value.length === 0 ? "Choose at least one thing that it may do." : null),
      ends: (value) => (value === UNFINISHED ? "Give a day and a time, as in 09:15." : null),
    },
  });
  const make = useAct(
    "key",
    (values: typeof form.values) =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/keys", {
          params: { path: { workspace_id } },
          body: {
            name: values.name,
            role: values.role,
            scopes: values.scopes,
            accounts: values.accounts.length === 0 ? null : values.accounts,
            publish_per_day: values.publish_per_day === "" ? null : values.publish_per_day,
            ends_at: values.ends === "" ? null : endOf(values.ends, me.zone),
          },
        }),
      ),
    {
      after: (answer) => {
        onMade(answer.key);
        onClose();
      },
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  return (
    <form onSubmit={form.onSubmit((values) => make.mutate(values))}>
      <Stack>
        <TextInput label="Name" description="What uses it" placeholder="the newsletter script" required data-autofocus {...form.getInputProps("name")} />
        <Select label="Acts as" allowDeselect={false} data={roleChoices(own)} {...form.getInputProps("role")} />
        <Checkbox.Group {...form.getInputProps("scopes")}>
          <Fieldset legend="May">
            <Stack gap={6}>
              {scopeGroups.map(({ name, read, write, more }) => (
                <Group key={name} gap="md">
                  <Text size="sm" w={90}>
                    {name}
                  </Text>
                  {read !== undefined && <Checkbox size="sm" value={read} label="see" aria-label={`${name}: see`} />}
                  {write !== undefined && <Checkbox size="sm" value={write} label="change" aria-label={`${name}: change`} />}
                  {more?.map(({ scope, says }) => (
                    <Checkbox key={scope} size="sm" value={scope} label={says} aria-label={`${name}: ${says}`} />
                  ))}
                </Group>
              ))}
            </Stack>
          </Fieldset>
        </Checkbox.Group>
        <MultiSelect
          label="Accounts"
          placeholder={form.values.accounts.length === 0 ? "All accounts" : undefined}
          searchable
          clearable
          data={(accounts.data ?? []).map((each) => ({ value: each.id, label: accountLabel(each) }))}
          {...form.getInputProps("accounts")}
        />
        <Group grow>
          <NumberInput label="Sends a day, at most" placeholder="No limit" min={0} allowDecimal={false} {...form.getInputProps("publish_per_day")} />
          <WallTimeInput label="Ends" zone={me.zone} {...form.getInputProps("ends")} />
        </Group>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={make.isPending}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The chosen day and time are one's own zone's, as the list of keys shows them. */
export const endOf = (chosen: string, zone: string): string => localInstant(chosen, zone).toISOString();
