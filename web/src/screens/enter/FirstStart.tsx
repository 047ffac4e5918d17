import { Alert, Autocomplete, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { api, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { zones } from "../../ui/zones";
import { Door } from "./Door";
import { tokenIn, useToken } from "./token";
import { t } from "../../messages/enter";

export default function FirstStart() {
  const token = useToken();
  const go = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initialValues: {
      token: "",
      workspace: "",
      name: "",
      email: "",
      password: "",
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
  });
  const begin = useMutation({
    mutationFn: (body: typeof form.values) => take(api.POST("/api/v1/auth/first-start", { body: { ...body, token: token || tokenIn(body.token) } })),
    onSuccess: async () => {
      queries.clear();
      await go("/", { replace: true });
    },
    onError: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <Door title={t("welcome")} message={t("noOwnerYetCreateTheFirst")}>
      <form onSubmit={form.onSubmit((values) => begin.mutate(values))}>
        <Stack>
          {begin.error !== null && (
            <Alert color="red" role="alert">
              {begin.error.message}
            </Alert>
          )}
          {token === "" && (
            <TextInput
              label={t("setupLink")}
              description={t("pasteTheLinkFromTheTerminal")}
              required
              autoFocus
              {...form.getInputProps("token")}
            />
          )}
          <TextInput label={t("yourName")} autoComplete="name" required autoFocus={token !== ""} {...form.getInputProps("name")} />
          <TextInput label={t("email")} type="email" autoComplete="username" required {...form.getInputProps("email")} />
          <PasswordInput
            label={t("password")}
            description={t("atLeast12CharactersAFew")}
            autoComplete="new-password"
            required
            {...form.getInputProps("password")}
          />
          <TextInput
            label={t("workspace")}
            description={t("forABrandAClientOr")}
            required
            {...form.getInputProps("workspace")}
          />
          <Autocomplete label={t("timeZone")} data={zones} limit={20} required {...form.getInputProps("zone")} />
          <Button type="submit" loading={begin.isPending}>
            {t("getStarted")}
          </Button>
        </Stack>
      </form>
    </Door>
  );
}
