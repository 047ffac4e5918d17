import { Alert, Autocomplete, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { api, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { zones } from "../../ui/zones";
import { Door } from "./Door";
import { tokenIn, useToken } from "./token";

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
    <Door title="Welcome" says="This Cadenza is new and belongs to nobody yet. Become its owner.">
      <form onSubmit={form.onSubmit((values) => begin.mutate(values))}>
        <Stack>
          {begin.error !== null && (
            <Alert color="red" role="alert">
              {begin.error.message}
            </Alert>
          )}
          {token === "" && (
            <TextInput
              label="Start token"
              description="The link that was printed in the terminal where Cadenza was started, or its end behind token="
              required
              autoFocus
              {...form.getInputProps("token")}
            />
          )}
          <TextInput label="Your name" autoComplete="name" required autoFocus={token !== ""} {...form.getInputProps("name")} />
          <TextInput label="E-mail" type="email" autoComplete="username" required {...form.getInputProps("email")} />
          <PasswordInput
            label="Password"
            description="At least 12 characters; a few plain words are best"
            autoComplete="new-password"
            required
            {...form.getInputProps("password")}
          />
          <TextInput
            label="Workspace"
            description="A brand, a client, a team: accounts and posts live in one"
            required
            {...form.getInputProps("workspace")}
          />
          <Autocomplete label="Time zone" data={zones} limit={20} required {...form.getInputProps("zone")} />
          <Button type="submit" loading={begin.isPending}>
            Begin
          </Button>
        </Stack>
      </form>
    </Door>
  );
}
