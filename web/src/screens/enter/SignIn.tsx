import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearchParams } from "react-router";

import { api, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { Door } from "./Door";
import { t } from "../../messages/enter";

/** Only ways inside this installation: a link must not lead a person elsewhere after they signed in. */
export function safeNext(next: string | null): string {
  return next !== null && next.startsWith("/") && !next.startsWith("//") && !next.includes("\\") ? next : "/";
}

export default function SignIn() {
  const [search] = useSearchParams();
  const go = useNavigate();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { email: "", password: "", code: "" } });
  const signIn = useMutation({
    mutationFn: ({ email, password, code }: typeof form.values) =>
      take(api.POST("/api/v1/auth/sign-in", { body: { email, password, code: code || null } })),
    onSuccess: async () => {
      queries.clear();
      await go(safeNext(search.get("next")), { replace: true });
    },
  });
  const codeNeeded = signIn.error instanceof Problem && signIn.error.code === "code_needed";
  return (
    <Door title={t("signIn")} message={t("welcomeBack")}>
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <Stack>
          {signIn.error !== null && !codeNeeded && (
            <Alert color="red" role="alert">
              {signIn.error.message}
            </Alert>
          )}
          <TextInput label={t("email")} type="email" autoComplete="username" required autoFocus {...form.getInputProps("email")} />
          <PasswordInput label={t("password")} autoComplete="current-password" required {...form.getInputProps("password")} />
          {(codeNeeded || form.values.code !== "") && (
            <TextInput
              label={t("twoFactorCode")}
              description={t("fromYourAuthenticatorAppOrA")}
              autoComplete="one-time-code"
              inputMode="numeric"
              required
              autoFocus
              {...form.getInputProps("code")}
            />
          )}
          <Button type="submit" loading={signIn.isPending}>
            {t("signIn")}
          </Button>
          <Anchor component={Link} to="/forgotten" size="sm">
            {t("forgotYourPassword")}
          </Anchor>
        </Stack>
      </form>
    </Door>
  );
}
