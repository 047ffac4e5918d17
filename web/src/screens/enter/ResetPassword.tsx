import { Alert, Anchor, Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";

import { api, take } from "../../api/client";
import { Problem } from "../../api/problem";
import { Door } from "./Door";
import { useToken } from "./token";

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
      <Door title="Your password is new" says="You were signed out everywhere.">
        <Button component={Link} to="/sign-in">
          Sign in
        </Button>
      </Door>
    );
  }
  return (
    <Door title="Choose a new password" says="You will be signed out everywhere.">
      {token === "" ? (
        <Text role="alert">
          This link is not whole. Open it from the mail again, or{" "}
          <Anchor component={Link} to="/forgotten">
            ask for another
          </Anchor>
          .
        </Text>
      ) : (
        <form onSubmit={form.onSubmit((values) => reset.mutate(values))}>
          <Stack>
            {reset.error !== null && form.errors.password === undefined && (
              <Alert color="red" role="alert">
                {reset.error.message}{" "}
                <Anchor component={Link} to="/forgotten">
                  Ask for another link
                </Anchor>
              </Alert>
            )}
            <PasswordInput
              label="New password"
              description="At least 12 characters; a few plain words are best"
              autoComplete="new-password"
              required
              autoFocus
              {...form.getInputProps("password")}
            />
            <Button type="submit" loading={reset.isPending}>
              Set the password
            </Button>
          </Stack>
        </form>
      )}
    </Door>
  );
}
