import { Alert, Anchor, Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";

import { api, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { Door } from "./Door";
import { useToken } from "./token";
import { t } from "../../messages/enter";

export default function ResetPassword() {
  const token = useToken();
  const form = useForm({ initialValues: { password: "" } });
  const reset = useMutation({
    mutationFn: ({ password }: typeof form.values) =>
      take(api.POST("/api/v1/auth/password-reset", { body: { token, password } })),
    onError: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  if (reset.isSuccess) {
    return (
      <Door title={t("passwordChanged")} message={t("youveBeenSignedOutEverywhere")}>
        <Button component={Link} to="/sign-in">
          {t("signIn")}
        </Button>
      </Door>
    );
  }
  return (
    <Door title={t("chooseANewPassword")} message={t("youllBeSignedOutEverywhere")}>
      {token === "" ? (
        <Text role="alert">
          {t.rich("brokenLink", {
            link: (words) => (
              <Anchor component={Link} to="/forgotten">
                {words}
              </Anchor>
            ),
          })}
        </Text>
      ) : (
        <form onSubmit={form.onSubmit((values) => reset.mutate(values))}>
          <Stack>
            {reset.error !== null && form.errors.password === undefined && (
              <Alert color="red" role="alert">
                {reset.error.message}{" "}
                <Anchor component={Link} to="/forgotten">
                  {t("getANewLink")}
                </Anchor>
              </Alert>
            )}
            <PasswordInput
              label={t("newPassword")}
              description={t("atLeast12CharactersAFew")}
              autoComplete="new-password"
              required
              autoFocus
              {...form.getInputProps("password")}
            />
            <Button type="submit" loading={reset.isPending}>
              {t("savePassword")}
            </Button>
          </Stack>
        </form>
      )}
    </Door>
  );
}
