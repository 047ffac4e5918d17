"""Gmail and Google Workspace mailboxes, signed in to on Google's page. Start with ../mail_oauth.py; facts: README.md."""

from cadenza.providers.mail_oauth import MailIssuer, MailSignIn, OAuthMail

GOOGLE = MailIssuer(
    name="google_mail",
    title="Google",
    sign_in_url="https://accounts.google.com",
    sign_in_path="/o/oauth2/v2/auth",
    exchange_url="https://oauth2.googleapis.com",
    exchange_path="/token",
    scopes="openid email https://mail.google.com/",
    # Without these a second sign-in brings nothing to renew with.
    query={"access_type": "offline", "prompt": "consent"},
    smtp_host="smtp.gmail.com",
    smtp_port=465,
    smtp_security="tls",
    imap_host="imap.gmail.com",
)
PROVIDER = OAuthMail(GOOGLE)
CONNECTOR = MailSignIn(GOOGLE)
