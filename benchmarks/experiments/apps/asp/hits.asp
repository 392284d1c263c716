<%
# A page with a session: how often was it seen?
$Session->{hits}++;
%><html><body><p>You were here <%= $Session->{hits} %> times.</p></body></html>
