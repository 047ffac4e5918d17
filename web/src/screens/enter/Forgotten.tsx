import { Alert, Anchor, Button, Code, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";

import { api, take } from "../../api/client";
import { Door } from "./Door";
import { t } from "../../messages/enter";

export default function Forgotten() {
  const form = useForm({ initialValues: { email: "" } });
  const ask = useMutation({
    mutationFn: (body: typeof form.values) => take(api.POST("/api/v1/auth/password-reset/ask", { body })),
  });
  return (
    <Door title={t("resetYourPassword")} message={t("wellEmailYouALinkTo")}>
      {ask.data?.mails === false ? (
        <Stack role="status">
          <Text>{t("thisServerCantSendEmail")}</Text>
          <Text size="sm" c="dimmed">
            {t.rich("askForLink", { email: form.values.email, code: (command) => <Code>{command}</Code> })}
          </Text>
        </Stack>
      ) : ask.isSuccess ? (
        <Stack role="status">
          <Text>
            {t("ifEmailHasAnAccountHere", { email: form.values.email })}
          </Text>
          <Text size="sm" c="dimmed">
            {t("nothingThereCheckYourSpamFolder")}
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
            <TextInput label={t("email")} type="email" autoComplete="username" required autoFocus {...form.getInputProps("email")} />
            <Button type="submit" loading={ask.isPending}>
              {t("sendLink")}
            </Button>
          </Stack>
        </form>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        {t("backToSignIn")}
      </Anchor>
    </Door>
  );
}
