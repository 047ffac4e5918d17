import { Autocomplete, Button, Group, PasswordInput, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMe } from "../../api/me";
import { Problem } from "../../api/problem";
import { Section } from "../../ui/Section";
import { weekdayNames } from "../../ui/weekdays";
import { zones } from "../../ui/zones";
import { SecondFactor } from "./SecondFactor";
import { Sessions } from "./Sessions";
import { t } from "../../messages/settings";

export function Oneself() {
  return (
    <Stack>
      <Profile />
      <Password />
      <SecondFactor />
      <Sessions />
    </Stack>
  );
}

function Profile() {
  const me = useMe();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: me.name, zone: me.zone, week_start: String(me.week_start) } });
  const save = useAct(
    "me",
    (values: typeof form.values) =>
      take(api.PATCH("/api/v1/me", { body: { ...values, week_start: Number(values.week_start) } })),
    {
      done: () => t("saved"),
      after: (answer) => {
        form.resetDirty();
        queries.setQueryData(["me"], answer);
      },
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  return (
    <Section title={t("you")} message={me.email}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack gap="sm">
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <TextInput label={t("name")} autoComplete="name" required miw={180} {...form.getInputProps("name")} />
            <Autocomplete label={t("timeZone")} data={zones} limit={20} required miw={180} {...form.getInputProps("zone")} />
            <Select
              label={t("weekStartsOn")}
              allowDeselect={false}
              miw={180}
              data={weekdayNames.map((label, day) => ({ label, value: String(day) }))}
              {...form.getInputProps("week_start")}
            />
          </Group>
          <Button type="submit" w="fit-content" disabled={!form.isDirty()} loading={save.isPending}>
            {t("save")}
          </Button>
        </Stack>
      </form>
    </Section>
  );
}

function Password() {
  const form = useForm({ initialValues: { old: "", new: "" } });
  const me = useMe();
  const change = useAct("me", (body: typeof form.values) => take(api.POST("/api/v1/me/password", { body })), {
    done: () => t("passwordChangedYoureSignedOut"),
    after: () => form.reset(),
    refused: (error) => {
      if (!(error instanceof Problem)) return false;
      const { password, ...others } = error.fields;
      form.setErrors(error.code === "wrong" ? { old: error.message } : password === undefined ? others : { new: password });
      return error.code === "wrong" || error.status === 422;
    },
  });
  return (
    <Section title={t("password")} message={t("changingItSignsYouOutEverywhere")}>
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack gap="sm">
          {/* Password keepers want to know whose password this is. */}
          <input type="text" name="username" autoComplete="username" value={me.email} readOnly hidden />
          <Group grow align="flex-start" preventGrowOverflow={false}>
            <PasswordInput label={t("currentPassword")} autoComplete="current-password" required miw={200} {...form.getInputProps("old")} />
            <PasswordInput label={t("newPassword")} autoComplete="new-password" required miw={200} {...form.getInputProps("new")} />
          </Group>
          <Button type="submit" variant="default" w="fit-content" disabled={!form.isDirty()} loading={change.isPending}>
            {t("changePassword")}
          </Button>
        </Stack>
      </form>
    </Section>
  );
}
