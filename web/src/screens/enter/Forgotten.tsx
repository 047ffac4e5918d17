import { Alert, Anchor, Button, Code, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";

import { api, take } from "../../api/client";
import { Door } from "./Door";

export default function Forgotten() {
  const form = useForm({ initialValues: { email: "" } });
  const ask = useMutation({
    mutationFn: (body: typeof form.values) => take(api.POST("/api/v1/auth/password-reset/ask", { body })),
  });
  return (
    <Door title="A new password" says="We mail you a link to choose one.">
      {ask.data?.mails === false ? (
        <Stack role="status">
          <Text>This Cadenza cannot send mail.</Text>
          <Text size="sm" c="dimmed">
            Ask whoever runs it for a link: <Code>cadenza person reset {form.values.email}</Code> prints one.
          </Text>
        </Stack>
      ) : ask.isSuccess ? (
        <Stack role="status">
          <Text>
            If {form.values.email} has a place here, a mail with a link is on its way. The link works once, for an hour.
          </Text>
          <Text size="sm" c="dimmed">
            Nothing came? Look among the unwanted mails, or ask whoever runs this Cadenza whether it can send mail.
          </Text>
        </Stack>
      ) : (
        <form onSubmit={form.onSubmit((values) => ask.mutate(values))}>
          <Stack>
            {ask.error !== null && (
              <Alert color="red" role="alert">
                {ask.error.message}
              </Alert>
            )}
            <TextInput label="E-mail" type="email" autoComplete="username" required autoFocus {...form.getInputProps("email")} />
            <Button type="submit" loading={ask.isPending}>
              Send me a link
            </Button>
          </Stack>
        </form>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        Back to signing in
      </Anchor>
    </Door>
  );
}
