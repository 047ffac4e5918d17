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
import { t } from "../../messages/settings";

export function NewKey(props: { opened: boolean; onClose: () => void; onMade: (key: string) => void }) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={t("newKey")} size="lg">
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
      scopes: (value) => (value.length === 0 ? t("selectAtLeastOnePermission") : null),
      ends: (value) => (value === UNFINISHED ? t("enterADateAndATime") : null),
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
        <TextInput label={t("name")} description={t("whatYoullUseItFor")} placeholder={t("newsletterScript")} required data-autofocus {...form.getInputProps("name")} />
        <Select label={t("role")} allowDeselect={false} data={roleChoices(own)} {...form.getInputProps("role")} />
        <Checkbox.Group {...form.getInputProps("scopes")}>
          <Fieldset legend={t("permissions")}>
            <Stack gap={6}>
              {scopeGroups.map(({ name, read, write, more }) => (
                <Group key={name} gap="md">
                  <Text size="sm" w={90}>
                    {name}
                  </Text>
                  {read !== undefined && <Checkbox size="sm" value={read} label={t("view")} aria-label={t("nameView", { name })} />}
                  {write !== undefined && <Checkbox size="sm" value={write} label={t("edit")} aria-label={t("nameEdit", { name })} />}
                  {more?.map(({ scope, message }) => (
                    <Checkbox key={scope} size="sm" value={scope} label={message} aria-label={`${name}: ${message}`} />
                  ))}
                </Group>
              ))}
            </Stack>
          </Fieldset>
        </Checkbox.Group>
        <MultiSelect
          label={t("accounts")}
          placeholder={form.values.accounts.length === 0 ? t("allAccounts") : undefined}
          searchable
          clearable
          data={(accounts.data ?? []).map((each) => ({ value: each.id, label: accountLabel(each) }))}
          {...form.getInputProps("accounts")}
        />
        <Group grow>
          <NumberInput label={t("postsPerDayAtMost")} placeholder={t("noLimit")} min={0} allowDecimal={false} {...form.getInputProps("publish_per_day")} />
          <WallTimeInput label={t("expires")} zone={me.zone} {...form.getInputProps("ends")} />
        </Group>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("cancel")}
          </Button>
          <Button type="submit" loading={make.isPending}>
            {t("createKey")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The chosen day and time are one's own zone's, as the list of keys shows them. */
export const endOf = (chosen: string, zone: string): string => localInstant(chosen, zone).toISOString();
