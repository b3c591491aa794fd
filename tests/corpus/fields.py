"""Models as people of many fields write them, in the spellings that they use."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions import transforms

from corpus.data import keeper, predictors_and_outcome, predictors_and_response

MODELS = {}
add = keeper(MODELS)


@add("sheared: include, beta, sigma_log__")
def econ_growth_normal():
    X, y = predictors_and_response(101)
    with pm.Model() as model:
        include = pm.Bernoulli("include", p=0.5, shape=3)
        beta = pm.Normal("beta", mu=0, sigma=1, shape=3)
        sigma = pm.HalfNormal("sigma", sigma=1)
        pm.Normal("growth", mu=pm.math.dot(X, include * beta), sigma=sigma, observed=y)
    return model


@add("sheared: g, b, s_log__")
def robust_selection_studentt():
    X, y = predictors_and_response(102)
    y[3] += 4
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.4, shape=3)
        b = pm.Normal("b", 0, 1, shape=3)
        s = pm.HalfCauchy("s", beta=1)
        pm.StudentT("y", nu=4, mu=(X * (g * b)).sum(axis=1), sigma=s, observed=y)
    return model


@add("sheared: on, coef, icept, b_log__")
def median_regression_laplace():
    X, y = predictors_and_response(103, n=10, p=2)
    with pm.Model() as model:
        on = pm.Bernoulli("on", 0.5, size=2)
        coef = pm.Normal("coef", 0.0, 1.5, size=2)
        icept = pm.Normal("icept", 0.0, 2.0)
        b = pm.Exponential("b", 1.0)
        pm.Laplace("y", mu=icept + pt.dot(X, coef * on), b=b, observed=y)
    return model


@add("sheared: z, w, a")
def quantile_regression_asymlaplace():
    X, y = predictors_and_response(104, n=11, p=3)
    with pm.Model() as model:
        z = pm.Bernoulli("z", 0.3, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        a = pm.Normal("a", 0, 2)
        mu = a
        for j in range(3):
            mu = mu + z[j] * w[j] * X[:, j]
        pm.AsymmetricLaplace("y", q=0.75, mu=mu, b=2.0, observed=y)
    return model


@add("sheared: gamma, beta, sigma_log__")
def tobit_hours_worked():
    X, y = predictors_and_response(105, n=13, p=3, size=0.7)
    y = np.maximum(y, 0.0)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=3)
        beta = pm.Normal("beta", 0, 1, shape=3)
        sigma = pm.HalfNormal("sigma", 1.5)
        latent = pm.Normal.dist(mu=X @ (gamma * beta), sigma=sigma)
        pm.Censored("hours", latent, lower=0, upper=None, observed=y)
    return model


@add("sheared: gate, amp_log__, base")
def detector_saturation_two_sided_censoring():
    X, y = predictors_and_response(106, n=12, p=2)
    y = np.clip(y, -1.0, 1.2)
    with pm.Model(coords={"channel": ["u", "v"]}) as model:
        gate = pm.Bernoulli("gate", 0.5, dims="channel")
        amp = pm.HalfNormal("amp", 1.0, dims="channel")
        base = pm.Normal("base", 0, 1)
        pm.Censored(
            "counts",
            pm.Normal.dist(base + X @ (amp * gate), 0.9),
            lower=-1.0,
            upper=1.2,
            observed=y,
        )
    return model


@add("sheared: incl, w")
def toxicology_probit_invprobit():
    X, y = predictors_and_outcome(107)
    with pm.Model() as model:
        incl = pm.Bernoulli("incl", 0.5, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        pm.Bernoulli("dead", p=pm.math.invprobit(X @ (incl * w) - 0.2), observed=y)
    return model


@add("sheared: k, w, c")
def psychophysics_probit_erf():
    X, y = predictors_and_outcome(108, p=2)
    with pm.Model() as model:
        k = pm.Bernoulli("k", p=[0.3, 0.6])
        w = pm.Normal("w", 0, 1.2, shape=2)
        c = pm.Normal("c", 0, 1)
        eta = c + pt.dot(X, k * w)
        pm.Bernoulli("resp", p=0.5 * (1.0 + pt.erf(eta / pt.sqrt(2.0))), observed=y)
    return model


@add("sheared: gamma, beta, alpha")
def credit_logit_p():
    X, y = predictors_and_outcome(109)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.25, shape=3)
        beta = pm.Normal("beta", 0, 1.5, shape=3)
        alpha = pm.Normal("alpha", 0, 1.5)
        pm.Bernoulli("default", logit_p=alpha + pm.math.dot(X, beta * gamma), observed=y)
    return model


@add("sheared: gamma, beta, tau_log__, pi_logodds__")
def ecology_presence_sigmoid_hyper():
    X, y = predictors_and_outcome(110, p=2)
    with pm.Model() as model:
        tau = pm.HalfNormal("tau", 1)
        pi = pm.Beta("pi", 1, 1)
        gamma = pm.Bernoulli("gamma", pi, shape=2)
        beta = pm.Normal("beta", 0, tau, shape=2)
        theta = pm.Deterministic("theta", pm.math.sigmoid((X * gamma * beta).sum(-1)))
        pm.Bernoulli("presence", p=theta, observed=y)
    return model


@add("sheared: g, b, a")
def bioassay_binomial_logit():
    rng = np.random.default_rng(111)
    dose = np.linspace(-1, 1, 6)
    D = np.column_stack([dose, dose**2 - 0.4])
    k = rng.binomial(6, 1 / (1 + np.exp(-0.8 * dose)))
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        b = pm.Normal("b", 0, 1, shape=2)
        a = pm.Normal("a", 0, 1)
        pm.Binomial("k", n=6, logit_p=a + D @ (g * b), observed=k)
    return model


@add("sheared: d, b")
def bioassay_binomial_invlogit_varying_n():
    rng = np.random.default_rng(112)
    X = rng.normal(size=(7, 3))
    n = np.array([3, 5, 4, 6, 2, 5, 3])
    k = rng.binomial(n, 1 / (1 + np.exp(-0.7 * X[:, 0])))
    with pm.Model() as model:
        trials = pm.Data("trials", n)
        d = pm.Bernoulli("d", 0.4, shape=(3,))
        b = pm.Normal("b", 0, 1, shape=(3,))
        pm.Binomial("k", n=trials, p=pm.math.invlogit(pm.math.dot(X, d * b)), observed=k)
    return model


@add("sheared: s, w, a")
def parasite_counts_negbin():
    rng = np.random.default_rng(113)
    X = rng.normal(size=(10, 2))
    c = rng.poisson(np.exp(0.6 + 0.4 * X[:, 0]))
    with pm.Model() as model:
        s = pm.Bernoulli("s", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.7, shape=2)
        a = pm.Normal("a", 0.5, 1)
        pm.NegativeBinomial("c", mu=pm.math.exp(a + X @ (s * w)), alpha=2.0, observed=c)
    return model


@add("sheared: de, lfc")
def rnaseq_negbin_offset_random_dispersion():
    rng = np.random.default_rng(114)
    treat = np.repeat([0.0, 1.0], 4)
    off = rng.normal(0, 0.2, 8)
    Y = rng.poisson(np.exp(1.0 + off + 0.5 * treat)[:, None] * np.ones(2))
    with pm.Model(coords={"gene": ["a", "b"]}) as model:
        de = pm.Bernoulli("de", 0.3, dims="gene")
        lfc = pm.Normal("lfc", 0, 1, dims="gene")
        disp = pm.Gamma("disp", 3, 1)
        eta = 1.0 + off[:, None] + treat[:, None] * (de * lfc)[None, :]
        pm.NegativeBinomial("Y", mu=pt.exp(eta), alpha=disp, observed=Y)
    return model


@add("sheared: g, w")
def negbin_n_and_p_spelling():
    rng = np.random.default_rng(115)
    X = rng.normal(size=(9, 2))
    c = rng.negative_binomial(3, 0.5, size=9)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.8, shape=2)
        eta = X @ (g * w)
        pm.NegativeBinomial("c", n=3, p=pm.math.sigmoid(-eta), observed=c)
    return model


@add("sheared: gate, w, sigma_log__")
def grouped_factor_levels():
    X, y = predictors_and_response(116, n=12, p=4)
    group = np.array([0, 0, 1, 1])
    with pm.Model() as model:
        gate = pm.Bernoulli("gate", 0.5, shape=2)
        w = pm.Normal("w", 0, 1, shape=4)
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", X @ (w * gate[group]), sigma, observed=y)
    return model


@add("sheared: gamma, w, theta_logodds__, sigma_log__")
def hierarchical_inclusion_beta():
    X, y = predictors_and_response(117)
    with pm.Model() as model:
        theta = pm.Beta("theta", 2, 3)
        gamma = pm.Bernoulli("gamma", theta, shape=3)
        w = pm.Normal("w", 0, 1, shape=3)
        sigma = pm.HalfNormal("sigma", 1)
        beta = pm.Deterministic("beta", pt.switch(pt.eq(gamma, 1), w, 0.0))
        pm.Normal("obs", pt.dot(X, beta), sigma, observed=y)
    return model


@add("sheared: ind, theta, mu0, sigma2_log__")
def kuo_mallick_inverse_gamma():
    X, y = predictors_and_response(118, p=2)
    with pm.Model() as model:
        sigma2 = pm.InverseGamma("sigma2", alpha=2, beta=1)
        ind = pm.Bernoulli("ind", 0.5, shape=2)
        theta = pm.Normal("theta", 0, tau=0.5, shape=2)
        mu0 = pm.Normal("mu0", 0, 3)
        pm.Normal("y", mu0 + X @ (ind * theta), pt.sqrt(sigma2), observed=y)
    return model


@add("sheared: gamma, raw, slab_log__")
def noncentred_exponential_slab():
    X, y = predictors_and_response(119)
    with pm.Model() as model:
        slab = pm.Exponential("slab", 1.0)
        raw = pm.Normal("raw", shape=3)
        gamma = pm.Bernoulli("gamma", 0.5, shape=3)
        beta = pm.Deterministic("beta", slab * raw * gamma)
        pm.Normal("y", pm.math.dot(X, beta), 1.0, observed=y)
    return model


@add("sheared: delta, b, tau_log__, taub_log__")
def bugs_style_precisions():
    X, y = predictors_and_response(120, p=2)
    with pm.Model() as model:
        tau = pm.Gamma("tau", 2, 2)
        taub = pm.Gamma("taub", 2, 2)
        delta = pm.Bernoulli("delta", 0.5, shape=2)
        b = pm.Normal("b", 0, tau=taub, shape=2)
        pm.Normal("y", b[0] * delta[0] * X[:, 0] + b[1] * delta[1] * X[:, 1], tau=tau, observed=y)
    return model


@add("sheared: gamma, w, sigma_log__")
def per_coefficient_slabs():
    X, y = predictors_and_response(121)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", [0.2, 0.5, 0.7], shape=3)
        w = pm.Normal("w", np.array([0.0, 0.5, 0.0]), np.array([0.5, 1.0, 2.0]), shape=3)
        sigma = pm.LogNormal("sigma", 0, 0.5)
        pm.Normal("y", X @ (gamma * w), sigma, observed=y)
    return model


@add("sheared: gamma, w")
def horseshoe_with_gates():
    X, y = predictors_and_response(122, p=2)
    with pm.Model() as model:
        lam = pm.HalfCauchy("lam", 1, shape=2)
        gamma = pm.Bernoulli("gamma", 0.5, shape=2)
        w = pm.Normal("w", 0, 0.5 * lam, shape=2)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=y)
    return model


@add("sheared: g, z")
def regularised_horseshoe_noncentred():
    X, y = predictors_and_response(123, p=2)
    with pm.Model() as model:
        lam = pm.HalfStudentT("lam", nu=3, sigma=1, shape=2)
        z = pm.Normal("z", 0, 1, shape=2)
        g = pm.Bernoulli("g", 0.5, shape=2)
        lam_t = lam * pt.sqrt(4.0 / (4.0 + lam**2))
        pm.Normal("y", pt.dot(X, z * lam_t * g), 0.9, observed=y)
    return model


@add("general: z, lo, hi, p_logodds__")
def mixture_labels_unknown_means():
    y = np.array([-0.9, 0.4, 0.1, 1.2])
    with pm.Model() as model:
        p = pm.Beta("p", 2, 2)
        z = pm.Bernoulli("z", p, shape=4)
        lo = pm.Normal("lo", -0.7, 0.5)
        hi = pm.Normal("hi", 0.7, 0.5)
        pm.Normal("y", pt.switch(z, hi, lo), 0.8, observed=y)
    return model


@add("general: is_out, b0, b1")
def outlier_flags_straight_line():
    x = np.linspace(-1, 1, 5)
    y = 0.3 + 0.8 * x + np.array([0.1, -0.4, 1.6, 0.2, -0.3])
    with pm.Model() as model:
        is_out = pm.Bernoulli("is_out", 0.2, shape=5)
        b0 = pm.Normal("b0", 0, 2)
        b1 = pm.Normal("b1", 0, 2)
        s_out = pm.HalfNormal("s_out", 3)
        pm.Normal("y", b0 + b1 * x, (1 - is_out) * 0.4 + is_out * (0.4 + s_out), observed=y)
    return model


@add("general: out, m, c, yo")
def hogg_outliers_potential():
    x = np.linspace(0, 1, 5)
    y = 1 - x + np.array([0.1, 0.9, -0.1, 0.2, -1.0])
    with pm.Model() as model:
        out = pm.Bernoulli("out", 0.25, shape=5)
        m = pm.Normal("m", 0, 2)
        c = pm.Normal("c", 0, 2)
        yo = pm.Normal("yo", 0, 1)
        good = pm.logp(pm.Normal.dist(m * x + c, 0.4), y)
        bad = pm.logp(pm.Normal.dist(yo, 1.5), y)
        pm.Potential("ll", ((1 - out) * good).sum() + (out * bad).sum())
    return model


@add("general: gamma, beta")
def ssvs_george_mcculloch():
    X, y = predictors_and_response(127)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=3)
        beta = pm.Normal("beta", 0, sigma=gamma * 1.5 + (1 - gamma) * 0.15, shape=3)
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", mu=pm.math.dot(X, beta), sigma=sigma, observed=y)
    return model


@add("binary: gamma")
def ssvs_table_of_scales_probit():
    X, y = predictors_and_outcome(128, p=2)
    scales = np.array([0.1, 1.2])
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=2)
        beta = pm.Normal("beta", 0, pt.as_tensor_variable(scales)[gamma], shape=2)
        pm.Bernoulli("y", p=pm.math.invprobit(X @ beta), observed=y)
    return model


@add("general: included, b, w0_logodds__")
def nmig_slab_hypervariance():
    X, y = predictors_and_response(129, p=2)
    with pm.Model() as model:
        w0 = pm.Beta("w0", 1, 1)
        included = pm.Bernoulli("included", w0, shape=2)
        psi2 = pm.InverseGamma("psi2", 3, 2)
        b = pm.Normal("b", 0, pt.sqrt(psi2 * pt.switch(included, 1.0, 0.02)), shape=2)
        pm.Normal("y", X @ b, 1.0, observed=y)
    return model


@add("sheared: occurs, jump, level")
def change_points_gated_jumps():
    rng = np.random.default_rng(130)
    y = np.r_[np.zeros(5), np.full(5, 0.9)] + 0.8 * rng.normal(size=10)
    pos = [3, 5, 7]
    with pm.Model() as model:
        occurs = pm.Bernoulli("occurs", 0.3, shape=3)
        jump = pm.Normal("jump", 0, 1.5, shape=3)
        step = pt.zeros(10)
        step = pt.set_subtensor(step[pos], occurs * jump)
        level = pm.Normal("level", 0, 1)
        pm.Normal("y", level + pt.cumsum(step), 0.8, observed=y)
    return model


@add("binary: x")
def ising_chain_with_field():
    rng = np.random.default_rng(131)
    img = rng.normal(0.3, 1, 5)
    with pm.Model() as model:
        x = pm.Bernoulli("x", 0.5, shape=5)
        s = 2 * x - 1
        J = pm.HalfNormal("J", 0.5)
        pm.Potential("bond", J * pt.sum(s[:-1] * s[1:]))
        pm.Normal("img", s, 1.2, observed=img)
    return model


@add("binary: lab")
def potts_two_state_grid():
    rng = np.random.default_rng(132)
    d = rng.normal(0.5, 0.7, size=(2, 2))
    with pm.Model() as model:
        lab = pm.Categorical("lab", p=[0.5, 0.5], shape=(2, 2))
        same = pt.eq(lab[1:], lab[:-1]).sum() + pt.eq(lab[:, 1:], lab[:, :-1]).sum()
        pm.Potential("potts", 0.6 * same)
        mu = pm.Normal("mu", [0.0, 1.0], 0.5, shape=2)
        pm.Normal("d", mu[lab], 0.8, observed=d)
    return model


@add("binary: s0, s1, s2, s3, s4, stay_logodds__")
def hmm_regime_switching_volatility():
    r = np.array([0.2, -0.3, 1.5, -1.1, 0.1])
    with pm.Model() as model:
        stay = pm.Beta("stay", 4, 2)
        s = [pm.Bernoulli("s0", 0.5)]
        for t in range(1, 5):
            s.append(pm.Bernoulli(f"s{t}", pt.switch(s[-1], stay, 1 - stay)))
        vol = pm.math.stack([0.4, 1.3])
        pm.Normal("r", 0.0, vol[pt.stack(s)], observed=r)
    return model


@add("binary: z_0, z_1, z_2, z_3")
def hmm_fixed_matrix_lookup():
    y = np.array([0.1, 0.9, 0.4, 1.3])
    P = pytensor.shared(np.array([[0.8, 0.2], [0.3, 0.7]]))
    with pm.Model() as model:
        m = pm.Normal("m", [0, 1], 0.7, shape=2)
        z = pm.Categorical("z_0", p=[0.5, 0.5])
        pm.Normal("y_0", m[z], 0.6, observed=y[0])
        for t in range(1, 4):
            z = pm.Categorical(f"z_{t}", p=P[z])
            pm.Normal(f"y_{t}", m[z], 0.6, observed=y[t])
    return model


@add("binary: z, omega_logodds__")
def capture_recapture_augmented():
    y = np.array([2, 1, 0, 0, 0])
    with pm.Model() as model:
        omega = pm.Beta("omega", 1, 1)
        p = pm.Beta("p", 2, 3)
        z = pm.Bernoulli("z", omega, shape=5, initval=np.ones(5, dtype=int))
        pm.Binomial("caps", n=3, p=z * p, observed=y)
        pm.Deterministic("N", pt.sum(z))
    return model


@add("binary: alive0, alive1, alive2, alive3, phi_logodds__")
def cjs_survival_chain():
    caught = np.array([1, 0, 0, 0])
    with pm.Model() as model:
        phi = pm.Beta("phi", 4, 2)
        p = pm.Beta("p", 2, 2)
        alive = [pm.Bernoulli("alive0", phi, initval=1)]
        for t in range(1, 4):
            alive.append(pm.Bernoulli(f"alive{t}", alive[-1] * phi, initval=1))
        pm.Bernoulli("caught", p=p * pt.stack(alive), observed=caught)
    return model


@add("binary: skill")
def dina_slip_guess():
    Q = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]])
    resp = np.array([1, 0, 0, 1, 1])
    with pm.Model() as model:
        skill = pm.Bernoulli("skill", 0.5, shape=2)
        guess = pm.Beta("guess", 2, 6)
        slip = pm.Beta("slip", 2, 6)
        has_all = pt.prod(pt.where(Q == 1, skill[None, :], 1), axis=1)
        p = (1 - slip) * has_all + guess * (1 - has_all)
        pm.Bernoulli("resp", p=p, observed=resp)
    return model


@add("binary: guesser")
def irt_3pl_with_guesser_flags():
    Y = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0]])
    diff = np.array([-1.0, -0.3, 0.4, 1.0])
    with pm.Model() as model:
        guesser = pm.Bernoulli("guesser", 0.3, shape=3)
        ability = pm.Normal("ability", 0, 1, shape=3)
        p_able = pm.math.sigmoid(ability[:, None] - diff[None, :])
        p = pm.math.switch(pm.math.eq(guesser[:, None], 1), 0.5, p_able)
        pm.Bernoulli("Y", p=p, observed=Y)
    return model


@add("binary: cls, prev_logodds__")
def latent_class_three_tests():
    Y = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]])
    with pm.Model() as model:
        prev = pm.Beta("prev", 2, 2)
        cls = pm.Bernoulli("cls", prev, shape=4)
        sens = pm.Beta("sens", 8, 3)
        spec = pm.Beta("spec", 8, 3)
        pm.Bernoulli("Y", p=pt.where(cls, sens, 1 - spec)[:, None] * np.ones((1, 3)), observed=Y)
    return model


# PyTensor 3 writes the entries set in a matrix so that they cannot be followed to a mean.
@add("general: e, peer | binary: e")
def network_edges_degree_effect():
    y = np.array([0.8, 0.1, 1.1])
    iu = np.triu_indices(3, 1)
    with pm.Model() as model:
        e = pm.Bernoulli("e", 0.4, shape=3)
        A = pt.zeros((3, 3))
        A = pt.set_subtensor(A[iu], e)
        A = A + A.T
        peer = pm.Normal("peer", 0.5, 0.5)
        reach = A + 0.5 * pt.linalg.matrix_power(A, 2)
        pm.Normal("y", peer * reach.sum(axis=1), 0.7, observed=y)
    return model


@add("binary: tie, density_logodds__")
def network_edges_noisy_reports():
    rep = np.array([[1, 0, 1, 0], [1, 0, 0, 1]])
    with pm.Model(coords={"pair": range(4)}) as model:
        density = pm.Beta("density", 2, 3)
        tie = pm.Bernoulli("tie", density, dims="pair")
        tp, fp = pm.Beta("tp", 6, 2), pm.Beta("fp", 2, 6)
        pm.Bernoulli("rep", p=tie * tp + (1 - tie) * fp, observed=rep)
    return model


@add("general: g, main, inter")
def epistasis_products():
    rng = np.random.default_rng(141)
    G = rng.integers(0, 3, size=(12, 2)).astype(float) - 1
    y = 0.5 * G[:, 0] + rng.normal(size=12)
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        main = pm.Normal("main", 0, 1, shape=2)
        inter = pm.Normal("inter", 0, 1)
        mu = pt.dot(G, g * main) + g[0] * g[1] * inter * G[:, 0] * G[:, 1]
        pm.Normal("pheno", mu, 1.0, observed=y)
    return model


@add("sheared: g, b")
def missing_outcomes_nan():
    X, y = predictors_and_response(142, n=9, p=2)
    y[[2, 6]] = np.nan
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        b = pm.Normal("b", 0, 1, shape=2)
        pm.Normal("y", X @ (g * b), 0.9, observed=y)
    return model


@add("general: s_unobserved, a, b")
def missing_binary_covariate_masked():
    rng = np.random.default_rng(143)
    smoke = np.array([0, 1, -1, 1, 0, -1, 1, -1, 0, 1])
    y = 0.3 + 0.7 * np.array([0, 1, 1, 1, 0, 0, 1, 0, 0, 1]) + 0.7 * rng.normal(size=10)
    with pm.Model() as model:
        ps = pm.Beta("ps", 1, 1)
        s = pm.Bernoulli("s", ps, observed=np.ma.masked_values(smoke, -1))
        a = pm.Normal("a", 0, 1)
        b = pm.Normal("b", 0, 1)
        pm.Normal("y", a + b * s, 0.7, observed=y)
    return model


@add("sheared: gamma, beta, sigma_log__")
def data_containers_and_dims():
    X, y = predictors_and_response(144)
    coords = {"obs": np.arange(12), "predictor": ["age", "bmi", "dose"]}
    with pm.Model(coords=coords) as model:
        Xd = pm.Data("X", X, dims=("obs", "predictor"))
        yd = pm.Data("y", y, dims="obs")
        gamma = pm.Bernoulli("gamma", 0.4, dims="predictor")
        beta = pm.Normal("beta", 0, 1, dims="predictor")
        sigma = pm.HalfNormal("sigma", 1)
        effect = pm.Deterministic("effect", gamma * beta, dims="predictor")
        pm.Normal("lik", mu=(Xd * effect).sum(axis=-1), sigma=sigma, observed=yd, dims="obs")
    return model


@add("binary: lag")
def ar_lag_selection():
    rng = np.random.default_rng(145)
    x = np.zeros(15)
    for t in range(2, 15):
        x[t] = 0.4 * x[t - 1] + rng.normal()
    with pm.Model() as model:
        lag = pm.Bernoulli("lag", 0.5, shape=3)
        phi = pm.Uniform("phi", -1, 1, shape=3)
        s = pm.HalfNormal("s", 1)
        mu = lag[0] * phi[0] * x[2:-1] + lag[1] * phi[1] * x[1:-2] + lag[2] * phi[2] * x[:-3]
        pm.Normal("x", mu, s, observed=x[3:])
    return model


@add("sheared: lag, phi_interval__, c")
def ar_lag_selection_truncated_normal():
    rng = np.random.default_rng(146)
    x = rng.normal(size=14)
    x[1:] += 0.4 * x[:-1]
    L = np.column_stack([x[1:-1], x[:-2]])
    with pm.Model() as model:
        lag = pm.Bernoulli("lag", 0.5, shape=2)
        phi = pm.TruncatedNormal("phi", 0, 0.6, lower=-1, upper=1, shape=2)
        c = pm.Normal("c", 0, 1)
        pm.Normal("x", c + L @ (lag * phi), 0.7, observed=x[2:])
    return model


@add("sheared: g, b")
def gls_known_covariance():
    X, y = predictors_and_response(147, n=8)
    K = 0.6 ** np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=3)
        b = pm.Normal("b", 0, 1, shape=3)
        pm.MvNormal("y", mu=X @ (g * b), cov=K, observed=y)
    return model


@add("general: g, w")
def lkj_correlated_slab():
    X, y = predictors_and_response(148, p=2)
    with pm.Model() as model:
        chol, *_ = pm.LKJCholeskyCov(
            "chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2)
        )
        w = pm.MvNormal("w", mu=np.zeros(2), chol=chol, shape=2)
        g = pm.Bernoulli("g", 0.5, shape=2)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("binary: g")
def ordered_thresholded_effects():
    X, y = predictors_and_response(149)
    with pm.Model() as model:
        w = pm.Normal(
            "w", 0, 1, shape=3, transform=transforms.ordered, initval=np.array([-0.5, 0.0, 0.5])
        )
        g = pm.Bernoulli("g", 0.5, shape=3)
        pm.Normal("y", X @ (g * w), 1.0, observed=y)
    return model


@add("general: has_site, has_trend, slope")
def zerosum_sites_with_gate():
    rng = np.random.default_rng(150)
    site = np.repeat([0, 1, 2], 4)
    y = np.array([0.4, -0.3, 0.0])[site] + rng.normal(size=12)
    with pm.Model(coords={"site": ["A", "B", "C"]}) as model:
        a = pm.ZeroSumNormal("a", sigma=1.0, dims="site")
        has_site = pm.Bernoulli("has_site", 0.5)
        has_trend = pm.Bernoulli("has_trend", 0.5)
        slope = pm.Normal("slope", 0, 1)
        t = np.tile(np.linspace(-1, 1, 4), 3)
        pm.Normal("y", has_site * a[site] + has_trend * slope * t, 1.0, observed=y)
    return model


@add("sheared: present, abundance_interval__, sigma_log__")
def nonnegative_unmixing():
    rng = np.random.default_rng(151)
    S = np.abs(rng.normal(size=(10, 3)))
    y = S[:, 0] * 0.5 + 0.4 * rng.normal(size=10)
    with pm.Model(coords={"endmember": ["soil", "water", "veg"]}) as model:
        present = pm.Bernoulli("present", 0.5, dims="endmember")
        abundance = pm.TruncatedNormal(
            "abundance", mu=0.3, sigma=0.5, lower=0, upper=1, dims="endmember"
        )
        sigma = pm.HalfNormal("sigma", 0.5)
        pm.Normal("spectrum", mu=pt.dot(S, present * abundance), sigma=sigma, observed=y)
    return model


@add("sheared: hold, w_log__")
def portfolio_budget_constraint():
    X, y = predictors_and_response(152)
    with pm.Model() as model:
        hold = pm.Bernoulli("hold", 0.5, shape=3)
        w = pm.HalfNormal("w", 0.6, shape=3, initval=np.full(3, 0.2))
        position = hold * w
        pm.Normal("ret", X @ position, 1.0, observed=y)
        pm.Potential("budget", pt.switch(pt.sum(position) <= 1.2, 0.0, -np.inf))
    return model


@add("sheared: g, b")
def mixture_beside_selection():
    X, y = predictors_and_response(153, n=8, p=2)
    v = np.array([-1.1, 0.2, 0.9, -0.8, 1.4])
    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        b = pm.Normal("b", 0, 1, shape=2)
        pm.Normal("y", X @ (g * b), 1.0, observed=y)
        wt = pm.Beta("wt", 2, 2)
        m = pm.Normal("m", 1, 0.5)
        comps = [pm.Normal.dist(-m, 0.6), pm.Normal.dist(m, 0.6)]
        pm.Mixture("v", w=pt.stack([wt, 1 - wt]), comp_dists=comps, observed=v)
    return model


@add("general: g, b")
def customdist_gaussian_by_hand():
    X, y = predictors_and_response(154, p=2)

    def loglik(value, mu, sigma):
        return -0.5 * ((value - mu) / sigma) ** 2 - pt.log(sigma) - 0.5 * np.log(2 * np.pi)

    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        b = pm.Normal("b", 0, 1, shape=2)
        s = pm.HalfNormal("s", 1)
        pm.CustomDist("y", X @ (g * b), s, logp=loglik, observed=y)
    return model


@add("general: g, b, a")
def customdist_from_dist_function():
    X, y = predictors_and_response(155, p=2)

    def noisy(eta, size):
        return pm.Normal.dist(eta, 1.1, size=size)

    with pm.Model() as model:
        g = pm.Bernoulli("g", 0.5, shape=2)
        b = pm.Normal("b", 0, 1, shape=2)
        a = pm.Normal("a", 0, 1)
        pm.CustomDist("y", a + X @ (g * b), dist=noisy, observed=y)
    return model


@add("sheared: G, B")
def multivariate_outcomes_matrix_weights():
    rng = np.random.default_rng(156)
    X = rng.normal(size=(7, 2))
    Y = X @ np.array([[0.6, 0.0], [0.0, -0.5]]) + rng.normal(size=(7, 2))
    with pm.Model(coords={"x": ["a", "b"], "out": ["u", "v"]}) as model:
        G = pm.Bernoulli("G", 0.4, dims=("x", "out"))
        B = pm.Normal("B", 0, 1, dims=("x", "out"))
        pm.Normal("Y", X @ (G * B), 1.0, observed=Y)
    return model


@add("sheared: gamma, w1, w2")
def shared_rows_gate_two_outcomes():
    X, y = predictors_and_response(157, n=10, p=2)
    yb = (y + np.random.default_rng(1).normal(size=10) > 0).astype(int)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 0.5, shape=2)
        w1 = pm.Normal("w1", 0, 1, shape=2)
        w2 = pm.Normal("w2", 0, 1, shape=2)
        pm.Normal("cont", X @ (gamma * w1), 1.2, observed=y)
        pm.Bernoulli("bin", logit_p=X @ (gamma * w2), observed=yb)
    return model


@add("sheared: g1, g2, g12, b_1, b_2, b_12, sigma_log__")
def strong_heredity_interaction():
    X, y = predictors_and_response(158, p=2)
    with pm.Model() as model:
        g1 = pm.Bernoulli("g1", 0.5)
        g2 = pm.Bernoulli("g2", 0.5)
        g12 = pm.Bernoulli("g12", 0.25 + 0.5 * g1 * g2)
        b1, b2, b12 = (pm.Normal(f"b_{k}", 0, 1) for k in ("1", "2", "12"))
        sigma = pm.HalfNormal("sigma", 1)
        mu = g1 * b1 * X[:, 0] + g2 * b2 * X[:, 1] + g12 * b12 * X[:, 0] * X[:, 1]
        pm.Normal("y", mu, sigma, observed=y)
    return model


@add("general: use_linear, any_effect, wl, wq, wo")
def either_or_complement_gates():
    X, y = predictors_and_response(159, p=2)
    with pm.Model() as model:
        use_linear = pm.Bernoulli("use_linear", 0.5)
        any_effect = pm.Bernoulli("any_effect", 0.5)
        wl = pm.Normal("wl", 0, 1)
        wq = pm.Normal("wq", 0, 1)
        wo = pm.Normal("wo", 0, 1)
        mu = (
            use_linear * wl * X[:, 0]
            + (1 - use_linear) * wq * X[:, 0] ** 2
            + any_effect * wo * X[:, 1]
        )
        pm.Normal("y", mu, 1.0, observed=y)
    return model


@add("binary: positive")
def sign_flips_half_normal():
    X, y = predictors_and_response(160)
    with pm.Model() as model:
        positive = pm.Bernoulli("positive", 0.5, shape=3)
        size = pm.HalfNormal("size", 1, shape=3)
        pm.Normal("y", X @ ((2 * positive - 1) * size), 1.0, observed=y)
    return model


@add("general: up, gain")
def spin_coupled_sensors():
    y = np.array([[0.3, -0.8], [1.0, 0.1], [-0.2, -0.4]])
    with pm.Model() as model:
        up = pm.Bernoulli("up", 0.5, shape=3)
        gain = pm.Normal("gain", 0.6, 0.4, shape=2)
        spins = 2.0 * up - 1.0
        pm.Normal("y", pt.outer(spins, gain), 0.8, observed=y)
    return model


@add("sheared: works, eff, sigma_log__")
def gather_patients_by_treatment():
    rng = np.random.default_rng(162)
    arm = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 1])
    y = np.array([0.0, 0.6, 0.2])[arm] + rng.normal(size=10)
    with pm.Model(coords={"arm": ["placebo", "low", "high"]}) as model:
        idx = pm.Data("arm_idx", arm)
        works = pm.Bernoulli("works", 0.5, dims="arm")
        eff = pm.Normal("eff", 0, 1, dims="arm")
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", mu=works[idx] * eff[idx], sigma=sigma, observed=y)
    return model


@add("sheared: ga, gb, wa, wb")
def concatenated_blocks():
    X, y = predictors_and_response(163, p=4)
    with pm.Model() as model:
        ga = pm.Bernoulli("ga", 0.5, shape=2)
        gb = pm.Bernoulli("gb", 0.3)
        wa = pm.Normal("wa", 0, 1, shape=2)
        wb = pm.Normal("wb", 0, 0.5, shape=2)
        beta = pm.math.concatenate([ga * wa, gb * wb])
        pm.Normal("y", pm.math.dot(X, beta), 1.0, observed=y)
    return model


@add("sheared: G, W")
def einsum_three_way():
    rng = np.random.default_rng(164)
    T = rng.normal(size=(5, 2, 2))
    y = 0.5 * T[:, 0, 1] + rng.normal(size=5)
    with pm.Model() as model:
        G = pm.Bernoulli("G", 0.5, shape=(2, 2))
        W = pm.Normal("W", 0, 1, shape=(2, 2))
        pm.Normal("y", pt.einsum("nij,ij->n", T, G * W), 0.9, observed=y)
    return model


@add("sheared: effective, raw, tau_log__")
def eight_schools_gated_known_se():
    y = np.array([2.8, 0.8, -0.3, 0.7])
    se = np.array([1.5, 1.0, 1.6, 1.1])
    with pm.Model() as model:
        tau = pm.HalfCauchy("tau", 1)
        effective = pm.Bernoulli("effective", 0.5, shape=4)
        raw = pm.Normal("raw", 0, 1, shape=4)
        theta = pm.Deterministic("theta", effective * (tau * raw))
        pm.Normal("y", theta, sigma=se, observed=y)
    return model


@add("sheared: line, amp_log__, cont")
def emission_lines_positive():
    lam = np.linspace(0, 1, 14)
    rng = np.random.default_rng(166)
    centres = np.array([0.2, 0.5, 0.8])
    prof = np.exp(-0.5 * ((lam[:, None] - centres) / 0.07) ** 2)
    flux = prof @ np.array([0.8, 0.0, 0.5]) + 0.5 * rng.normal(size=14)
    with pm.Model() as model:
        line = pm.Bernoulli("line", 0.4, shape=3)
        amp = pm.Exponential("amp", 1.5, shape=3)
        cont = pm.Normal("cont", 0, 1)
        pm.Normal("flux", cont + (prof * line * amp).sum(1), 0.5, observed=flux)
    return model


@add("binary: flu, cold, malaria")
def noisy_or_causes():
    fever = np.array([1, 0, 1])
    with pm.Model() as model:
        flu = pm.Bernoulli("flu", 0.3)
        cold = pm.Bernoulli("cold", 0.4)
        malaria = pm.Binomial("malaria", n=1, p=0.2)
        lam = pm.Beta("lam", 3, 3, shape=3)
        p_no = (1 - 0.1) * (1 - lam[0]) ** flu * (1 - lam[1]) ** cold * (1 - lam[2]) ** malaria
        pm.Bernoulli("fever", p=1 - p_no, observed=fever)
    return model


@add("binary: z, psi_logodds__")
def zero_inflated_counts_with_flags():
    c = np.array([0, 2, 0, 0, 1])
    with pm.Model() as model:
        psi = pm.Beta("psi", 2, 2)
        z = pm.Bernoulli("z", psi, shape=5, initval=np.ones(5, dtype=int))
        lam = pm.Gamma("lam", 2, 1.5)
        pm.Poisson("c", mu=z * lam, observed=c)
    return model


@add("sheared: f0, f1, f2, w0, w1, w2, sd_log__")
def python_list_of_flags_and_weights():
    X, y = predictors_and_response(170, n=10, p=3)
    with pm.Model() as model:
        flags = [
            pm.Bernoulli("f0", 0.5),
            pm.DiscreteUniform("f1", 0, 1),
            pm.Categorical("f2", p=[0.6, 0.4]),
        ]
        ws = [pm.Normal(f"w{j}", mu=0, sigma=1) for j in range(3)]
        mu = sum(f * w * X[:, j] for j, (f, w) in enumerate(zip(flags, ws, strict=True)))
        sd = pm.HalfNormal("sd", 1)
        pm.Normal("y", mu=mu, sigma=sd, observed=y)
    return model
